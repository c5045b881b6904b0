import type { HoldStory } from '../../domain/hold.ts';
import type { LedgerLine } from '../../domain/ledger.ts';
import { unknownHold } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface MoneyStory {
  readonly story: HoldStory;
  readonly lines: readonly LedgerLine[];
}

/** What became of a task's money, line by line. `assertMaySee` refuses by the account; undefined where there is none. */
export async function getHold(
  { holds }: Pick<BillingDeps, 'holds'>,
  taskId: string,
  assertMaySee: (accountId: string | undefined) => void,
): Promise<MoneyStory> {
  const [story, lines] = await Promise.all([holds.find(taskId), holds.lines(taskId)]);
  assertMaySee(story === undefined || story.state === 'void' ? undefined : story.hold.accountId);
  if (story === undefined) throw unknownHold();
  return { story, lines };
}
