import type { DescMethod } from '@bufbuild/protobuf';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { readErrorType } from '../trace/error-type.ts';
import type { Caller } from './service.ts';

/** Calls that change nothing, and those that workers repeat all the time. */
const QUIET = /^(Authenticate|Check|Classify|Diagnose|Estimate|Get|Lease|List|Quote|Renew|Show|Verify|Watch)/;

const OK = 'ok';

/** Writes one line for a call when it ends: at info if it may have changed something, at debug otherwise. */
export type LogCall = <T>(caller: Caller, run: () => Promise<T>) => Promise<T>;

export function callLog({ parent, name }: DescMethod, log: Log): LogCall {
  const level = QUIET.test(name) ? 'debug' : 'info';
  const method = `${parent.name}/${name}`;
  return async ({ name: caller }, run) => {
    const startedAt = systemClock.now();
    const end = (outcome: string): void => {
      const fields = { method, caller, outcome, ms: systemClock.now() - startedAt };
      log.access({ level, failed: outcome !== OK }, fields, 'call');
    };
    try {
      const answer = await run();
      end(OK);
      return answer;
    } catch (thrown) {
      end(readErrorType(thrown));
      throw thrown;
    }
  };
}
