import type { HoldRecord } from '../../domain/hold.ts';
import type { LedgerLine } from '../../domain/ledger.ts';
import { unknownHold } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface HoldHistory {
  readonly record: HoldRecord;
  readonly lines: readonly LedgerLine[];
}

/**
 * What became of a task's money, line by line. `assertMaySee` refuses by the account; undefined where there is none.
 */
export async function getHold(
  { holds }: Pick<BillingDeps, 'holds'>,
  taskId: string,
  assertMaySee: (accountId: string | undefined) => void,
): Promise<HoldHistory> {
  const [record, lines] = await Promise.all([holds.find(taskId), holds.lines(taskId)]);
  assertMaySee(record === undefined || record.state === 'void' ? undefined : record.hold.accountId);
  if (record === undefined) throw unknownHold();
  return { record, lines };
}
