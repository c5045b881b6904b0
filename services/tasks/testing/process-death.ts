import type { Journal } from './journal.ts';

/** When a process dies: before a call is carried out, or after it, before the answer arrives. */
export type Moment = 'before' | 'after';

/**
 * Stops the process at a step: from then on no call across a port runs and none gets an answer, so the process neither
 * continues nor cleans up. Resolves when the step is reached and every started call has ended.
 */
export function dieAt(journal: Journal, step: number, moment: Moment): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const never = new Promise<never>(() => undefined);
  let made = 0;
  journal.put(async (_call, proceed) => {
    made += 1;
    if (made < step) return proceed();
    if (made === step) {
      if (moment === 'after') await proceed().catch(() => undefined);
      setImmediate(() => resolve(undefined));
    }
    return never;
  });
  return promise;
}
