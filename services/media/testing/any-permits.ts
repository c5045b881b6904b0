import { newTransferHolder, transfersUnderWay } from '../src/fetch/permits/transfer-permits.ts';
import type { TransferPermits } from '../src/fetch/permits/transfer-permits.ts';

/** Grants every permit until the service stops. */
export function anyPermits(stopping = new AbortController().signal): TransferPermits {
  const { signal, measure } = newTransferHolder('demo', transfersUnderWay(stopping));
  return { signal, measure, enterHost: async () => undefined, admit: async (found) => found, reached: () => undefined };
}
