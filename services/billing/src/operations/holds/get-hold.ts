import type { HoldRecord } from '../../domain/hold.ts';
import type { LedgerLine } from '../../domain/ledger.ts';
import { unknownHold } from '../../billing-refusals.ts';
import type { BillingDeps } from '../deps.ts';

export interface HoldHistory {
  readonly record: HoldRecord;
  readonly lines: readonly LedgerLine[];
}

/**
 * The hold of a task and its ledger lines. `assertMaySee` gets the hold's account, or undefined if there is no hold.
 */
export async function getHold(
  { holds }: BillingDeps,
  taskId: string,
  assertMaySee: (accountId: string | undefined) => void,
): Promise<HoldHistory> {
  const [record, lines] = await Promise.all([holds.find(taskId), holds.lines(taskId)]);
  assertMaySee(record === undefined || record.state === 'void' ? undefined : record.hold.accountId);
  if (record === undefined) throw unknownHold();
  return { record, lines };
}
