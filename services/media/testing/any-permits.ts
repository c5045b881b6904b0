import { openTransferHolder } from '../src/fetch/permits/transfer-holder.ts';
import type { TransferPermits } from '../src/fetch/permits/transfer-permits.ts';

/** Grants every permit until the service stops. */
export function anyPermits(stopping = new AbortController().signal): TransferPermits {
  const { signal, measure } = openTransferHolder('demo', stopping);
  return { signal, measure, enterHost: async () => undefined, admit: async (found) => found, reached: () => undefined };
}
