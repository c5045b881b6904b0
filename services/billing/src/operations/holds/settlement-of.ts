import type { HoldRecord, Settlement } from '../../domain/hold.ts';

/** The settlement of an ended hold, or the deferral of one that waits for an operator; undefined: the hold is open. */
export function readSettlement(record: HoldRecord): Settlement | undefined {
  return record.state === 'open' ? record.deferral : record.settlement;
}
