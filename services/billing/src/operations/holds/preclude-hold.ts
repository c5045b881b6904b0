import type { BillingDeps } from '../deps.ts';

/** Writes a void if the task has no record. Returns whether it has a void now: then no hold was or can be placed. */
export async function precludeHold(
  { holds, clock }: Pick<BillingDeps, 'holds' | 'clock'>,
  taskId: string,
): Promise<boolean> {
  if (await holds.preclude(taskId, clock.now())) return true;
  return (await holds.find(taskId))?.state === 'void';
}
