import type { Delivery } from '../../../api/webhooks.ts';

const SOON_MS = 60_000;

/** Whether an attempt of a delivery runs, or begins within a minute. */
export function isDueSoon({ state, nextAttemptAt }: Pick<Delivery, 'state' | 'nextAttemptAt'>, now: number): boolean {
  return state === 'pending' && (nextAttemptAt === undefined || nextAttemptAt - now < SOON_MS);
}
