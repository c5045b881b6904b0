import type { FetchOrder } from '../src/fetch/transfers/guarded-fetch.ts';
import type { TransferLimits } from '../src/fetch/transfers/transfer-watch.ts';
import { anyPermits } from './any-permits.ts';

/** The order of a fetch of at most 1000 bytes of any type, which never waits for a permit. */
export const orderOf = (url: string, limits: TransferLimits): FetchOrder => ({
  url,
  bytesMax: 1000,
  limits,
  resume: false,
  acceptType: () => undefined,
  permits: anyPermits(),
});
