import { format } from 'node:util';
import { setLogger } from '@grpc/grpc-js';
import { backgroundLog } from '../log.ts';
import type { Log } from '../log.ts';

/** As the library traces headers. */
const CREDENTIAL = /(authorization: *)\S.*/gi;

/**
 * Writes the library's own lines to the log. GRPC_VERBOSITY and GRPC_TRACE of the environment decide which there are.
 */
export function logGrpcTo(log: Log): void {
  const lines = backgroundLog(log);
  const at =
    (level: 'debug' | 'info' | 'error') =>
    (...said: unknown[]): void => {
      lines[level]({ library: 'grpc-js', said: format(...said).replace(CREDENTIAL, '$1***') }, 'a line of a library');
    };
  setLogger({ debug: at('debug'), info: at('info'), error: at('error') });
}
