import type { HoldRecord, Settlement } from '../../domain/hold.ts';

/** How the record ended, or that it waits for a person; undefined while the hold is simply open. */
export function settlementOf(record: HoldRecord): Settlement | undefined {
  return record.state === 'open' ? record.deferral : record.settlement;
}
