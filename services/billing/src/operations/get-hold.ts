import type { HoldStory } from '../domain/hold.ts';
import type { LedgerLine } from '../domain/ledger.ts';
import { unknownHold } from '../refusals.ts';
import type { BillingDeps } from './deps.ts';

export interface MoneyStory {
  readonly story: HoldStory;
  readonly lines: readonly LedgerLine[];
}

/** What became of a task's money, line by line. */
export async function getHold({ holds }: Pick<BillingDeps, 'holds'>, taskId: string): Promise<MoneyStory> {
  const [story, lines] = await Promise.all([holds.find(taskId), holds.lines(taskId)]);
  if (story === undefined) throw unknownHold();
  return { story, lines };
}
