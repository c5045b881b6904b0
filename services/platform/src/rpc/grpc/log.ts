import { format } from 'node:util';
import { setLogger } from '@grpc/grpc-js';
import { describeError } from '../../describe-error.ts';
import { backgroundLog } from '../../log.ts';
import type { Log } from '../../log.ts';

const SAID_LENGTH_MAX = 2000;
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
      const text = format(...said.map((part) => (part instanceof Error ? describeError(part).message : part)));
      lines[level](
        { library: 'grpc-js', said: text.slice(0, SAID_LENGTH_MAX).replace(CREDENTIAL, '$1***') },
        'a line of a library',
      );
    };
  setLogger({ debug: at('debug'), info: at('info'), error: at('error') });
}
