import type { Metrics } from '@reelgate/platform/metrics';
import type { Secret } from '@reelgate/platform/secret';
import type { ReceivedFile } from '../blobs/incoming.ts';
import type { FetchConfig, MediaConfig } from '../config.ts';
import { mayDeclare } from '../domain/formats.ts';
import type { Family } from '../domain/formats.ts';
import { FetchFault } from './fetch-fault.ts';
import { hostKeyOf, parseTarget } from './fetch-target.ts';
import { guardedFetch } from './guarded-fetch.ts';
import type { FetchOrder, GuardedFetchDeps } from './guarded-fetch.ts';
import { openPlaces } from './places.ts';
import type { Places } from './places.ts';
import { openKeyedSlots, openSlots } from './slots.ts';
import type { TransferLimits } from './transfer-watch.ts';

/** The tasks service asks for hundreds of results at once for each of its channels, and each that is sent away is looked for again. */
const RESULTS_WAITING_MAX = 4096;

export interface ReferenceOrder {
  readonly url: string;
  readonly accountId: string;
  /** What its declared type must be of. */
  readonly family: Family;
  readonly bytesMax: number;
}

/** The two ways in from outside, each with places of its own. Both reject with a FetchFault where nothing was fetched. */
export interface Fetcher {
  fetchReference(order: ReferenceOrder): Promise<ReceivedFile>;
  /** The place is kept while the file is used: no more are fetched than can be dealt with. */
  withResult<T>(url: string, authorization: Secret | undefined, use: (file: ReceivedFile) => Promise<T>): Promise<T>;
}

export interface FetcherDeps extends GuardedFetchDeps {
  readonly metrics: Metrics;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export function openFetcher(deps: FetcherDeps, { fetch, results }: Pick<MediaConfig, 'fetch' | 'results'>): Fetcher {
  const { timeouts, inFlight } = fetch;
  const total = openSlots(inFlight.total);
  const resultSlots = openSlots(results.parallel, RESULTS_WAITING_MAX);
  const byAccount = openKeyedSlots(inFlight.perAccount);
  const byHost = openKeyedSlots(inFlight.perHost);
  const fetches = deps.metrics.counter('media_fetches_total', 'Fetches of media from outside, by what they were for and how they ended.', ['what', 'outcome']);

  const counted = async (what: string, order: Omit<FetchOrder, 'signal' | 'enterHost'>, places: Places): Promise<ReceivedFile> => {
    try {
      const enterHost = (url: URL): Promise<void> => places.enterHost(hostKeyOf(url));
      await enterHost(parseTarget(order.url, deps.policy));
      const file = await guardedFetch(deps, { ...order, enterHost, signal: deps.stopping });
      fetches.inc({ what, outcome: 'ok' });
      return file;
    } catch (error) {
      fetches.inc({ what, outcome: error instanceof FetchFault ? error.code : 'failed' });
      throw error;
    }
  };
  const within = async <T>(places: Places, work: () => Promise<T>): Promise<T> => {
    try {
      return await work();
    } finally {
      places.release();
    }
  };
  const queue = { clock: deps.clock, stopping: deps.stopping, queueMs: timeouts.queueMs };
  return {
    fetchReference: ({ url, accountId, family, bytesMax }) => {
      const totalMs = family === 'video' ? timeouts.videoTotalMs : timeouts.imageTotalMs;
      const places = openPlaces({ ...queue, kept: [(signal) => byAccount.take(accountId, signal)], ofHost: (host) => [(signal) => byHost.take(host, signal), (signal) => total.take(signal)] });
      const order = { url, bytesMax, limits: limitsOf(fetch, totalMs), resume: false, acceptType: (declared: string | undefined) => { acceptFamily(declared, family); } };
      return within(places, () => counted('reference', order, places));
    },
    withResult: (url, authorization, use) => {
      const places = openPlaces({ ...queue, kept: [(signal) => resultSlots.take(signal)], ofHost: () => [] });
      const order = { url, authorization, bytesMax: results.bytesMax, limits: limitsOf(fetch, results.totalMs), resume: true, acceptType: acceptAny };
      return within(places, async () => use(await counted('result', order, places)));
    },
  };
}

function limitsOf({ timeouts, leastBytesPerSecond, speedWindowMs }: FetchConfig, totalMs: number): TransferLimits {
  return { totalMs, leastBytesPerSecond, speedWindowMs, stagesMs: { resolve: timeouts.dnsMs, connect: timeouts.connectMs, headers: timeouts.headersMs, body: timeouts.idleMs } };
}

function acceptFamily(declared: string | undefined, family: Family): void {
  if (!mayDeclare(declared, family)) throw new FetchFault('declared_type', `must be served as ${family}/…; it is served as another type`, `declared as ${declared ?? ''}`);
}

/** An upstream's result is judged by its bytes alone. */
function acceptAny(): void {
  // nothing is refused here
}
