import type { Journal } from './journal.ts';

/** Where a process dies: as it is about to make a call, or when the call was carried out and its answer is on the way. */
export type Moment = 'before' | 'after';

/**
 * From the step of that number on nothing that crosses a seam is carried out, and no answer ever comes: so the process neither goes
 * on nor cleans up. Resolves when that step is reached and everything that was carried out has ended.
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
