import type { DescMethod } from '@bufbuild/protobuf';
import { CallEnded } from '../call-ended.ts';
import { systemClock } from '../clock.ts';
import type { Log } from '../log.ts';
import { isProblem } from '../problem.ts';
import type { Caller } from './service.ts';

/** Calls that change nothing, and those that workers repeat all the time. */
const QUIET = /^(Authenticate|Check|Classify|Estimate|Get|Lease|List|Quote|Renew|Show|Verify|Watch)/;

/** Writes one line for a call when it ends: at info if it may have changed something, at debug otherwise. */
export type LogCall = <T>(caller: Caller, run: () => Promise<T>) => Promise<T>;

export function callLog({ parent, name }: DescMethod, log: Log): LogCall {
  const level = QUIET.test(name) ? 'debug' : 'info';
  const method = `${parent.name}/${name}`;
  return async ({ name: caller }, run) => {
    const startedAt = systemClock.now();
    const end = (outcome: string): void => {
      log[level]({ method, caller, outcome, ms: systemClock.now() - startedAt }, 'call');
    };
    try {
      const answer = await run();
      end('ok');
      return answer;
    } catch (thrown) {
      end(outcomeOf(thrown));
      throw thrown;
    }
  };
}

function outcomeOf(thrown: unknown): string {
  if (isProblem(thrown)) return thrown.reason;
  return thrown instanceof CallEnded ? thrown.why : 'fault';
}
