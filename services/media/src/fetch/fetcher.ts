import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { ReceivedFile } from '../blobs/incoming.ts';
import { mayDeclare } from '../domain/formats.ts';
import type { Family } from '../domain/formats.ts';
import type { JsonPointer } from '../domain/json-pointer.ts';
import { addressPolicy } from './addresses/address-policy.ts';
import type { AddressPolicy } from './addresses/address-policy.ts';
import { parseTarget } from './addresses/fetch-target.ts';
import { FETCH_FAULT_CODES, FetchFault, hideAnswer } from '../domain/fetch-fault.ts';
import type { FetchConfig, FetchException } from './fetch-settings.ts';
import { newFairSemaphore } from './permits/fair-semaphore.ts';
import { newKeyedPermits } from './permits/keyed-permits.ts';
import { newTransferPermits, transfersUnderWay } from './permits/transfer-permits.ts';
import type { TransferPermitsDeps } from './permits/transfer-permits.ts';
import { newKeptConnections } from './requests/kept-connections.ts';
import type { Credential } from './requests/redirects.ts';
import { fetchGuarded } from './transfers/guarded-fetch.ts';
import type { FetchOrder, GuardedFetchDeps } from './transfers/guarded-fetch.ts';
import type { TransferLimits } from './transfers/transfer-watch.ts';

const PURPOSES = ['reference', 'result'] as const;
type Purpose = (typeof PURPOSES)[number];
/** The outcomes of a fetch; `failed`: it ended by a fault of ours. */
const OUTCOMES = ['ok', ...FETCH_FAULT_CODES, 'failed'] as const;

/** The maximum number of transfers that wait for one host, for one address, or in total. */
const WAITING_MAX = 256;
/** Enough for a few large orders at the same time. */
const ACCOUNT_WAITING_MAX = 128;
/** The tasks service requests hundreds of results at once for each channel, and requests a refused one again. */
const RESULTS_WAITING_MAX = 4096;

export interface ReferenceOrder {
  readonly url: string;
  readonly accountId: string;
  /** The family of its declared type. */
  readonly family: Family;
  readonly bytesMax: number;
}

export interface ResultOrder {
  readonly url: string;
  readonly accountId: string;
  /**
   * The maximum number of bytes of a picture of a result. It also has the time limit of a picture. Undefined for the
   * result itself.
   */
  readonly pictureBytesMax?: number | undefined;
  /** The credential for the origin of the address. */
  readonly credential?: Credential | undefined;
  /** The place of the Base64 string that holds the file, if the answer is JSON. */
  readonly base64At?: JsonPointer | undefined;
}

export interface FetchedReference extends ReceivedFile {
  /**
   * True if the fetch dialled an address that only an exception permits. Its client must learn nothing about that host.
   */
  readonly isFromException: boolean;
}

interface FetcherConfig {
  readonly fetch: FetchConfig;
  readonly results: {
    readonly bytesMax: number;
    readonly parallel: number;
    readonly totalMs: number;
  };
}

/** Fetches references and results, each kind with its own permits. Both reject with a FetchFault if the fetch fails. */
export interface Fetcher {
  fetchReference(order: ReferenceOrder): Promise<FetchedReference>;
  /** The permit is held while the file is used, so fetches do not outrun their processing. */
  withResult<T>(order: ResultOrder, use: (file: ReceivedFile) => Promise<T>): Promise<T>;
}

export interface FetcherDeps extends Omit<GuardedFetchDeps, 'policy'> {
  /** The addresses that each kind of fetch may dial. Redirects keep to the policy of their fetch. */
  readonly policies: Readonly<Record<Purpose, AddressPolicy>>;
  readonly metrics: Metrics;
  /** Aborted when the service stops. */
  readonly stopping: AbortSignal;
}

export function newFetcher(deps: FetcherDeps, { fetch, results }: FetcherConfig): Fetcher {
  const { timeouts } = fetch;
  const { ofReferences, ofResults } = newPermits(deps, { fetch, results });
  const kept = newKeptConnections(deps.clock, deps.stopping);
  const counted = countFetches(deps);
  return {
    fetchReference: async ({ url, accountId, family, bytesMax }) => {
      const totalMs = family === 'video' ? timeouts.videoTotalMs : timeouts.imageTotalMs;
      const permits = newTransferPermits(ofReferences, accountId);
      const acceptType = (declared: string | undefined): void => acceptFamily(declared, family);
      let isFromException = false;
      const recordException = (): void => {
        isFromException = true;
      };
      const limits = toTransferLimits(fetch, totalMs);
      const order = { url, bytesMax, permits, limits, resume: false, acceptType, recordException };
      try {
        const file = await counted('reference', order);
        return { ...file, isFromException };
      } catch (error) {
        throw isFromException ? hideAnswer(error) : error;
      } finally {
        permits.release();
      }
    },
    withResult: async ({ url, accountId, pictureBytesMax, credential, base64At }, use) => {
      const permits = newTransferPermits(ofResults, accountId);
      const totalMs = pictureBytesMax === undefined ? results.totalMs : timeouts.imageTotalMs;
      const limits = toTransferLimits(fetch, totalMs);
      const order = {
        url,
        credential,
        base64At,
        bytesMax: Math.min(pictureBytesMax ?? Infinity, results.bytesMax),
        permits,
        kept,
        limits,
        resume: true,
        acceptType: acceptAny,
      };
      try {
        const file = await counted('result', order);
        permits.arrived();
        return await use(file);
      } finally {
        permits.release();
      }
    },
  };
}

/** Fetches, and counts how each fetch ends. */
function countFetches(deps: FetcherDeps): (what: Purpose, order: FetchOrder) => Promise<ReceivedFile> {
  const fetches = deps.metrics.counter(
    'reelgate_media_fetches_total',
    'Fetches of external media, by purpose and outcome',
    ['what', 'outcome'],
  );
  fetches.begin(() => PURPOSES.flatMap((what) => OUTCOMES.map((outcome) => [what, outcome])));

  return async (what, order) => {
    try {
      const policy = deps.policies[what];
      await order.permits.enterHost(parseTarget(order.url, policy));
      const file = await fetchGuarded({ ...deps, policy }, order);
      fetches.labels(what, 'ok').inc();
      return file;
    } catch (error) {
      fetches.labels(what, error instanceof FetchFault ? error.code : 'failed').inc();
      throw error;
    }
  };
}

/** References and results have permits of their own, each shared by account. */
function newPermits(
  { clock, stopping }: FetcherDeps,
  { fetch, results }: FetcherConfig,
): Readonly<Record<'ofReferences' | 'ofResults', TransferPermitsDeps>> {
  const {
    inFlight,
    yieldAfterMs,
    timeouts: { queueMs },
  } = fetch;
  const underWay = transfersUnderWay(stopping);
  const kind = { clock, yieldAfterMs, waitingMax: WAITING_MAX, keepsLast: false };
  return {
    ofReferences: {
      clock,
      underWay,
      queueMs,
      total: newFairSemaphore({ ...kind, permits: inFlight.total }),
      narrow: {
        accounts: newKeyedPermits({ ...kind, permits: inFlight.perAccount, waitingMax: ACCOUNT_WAITING_MAX }),
        names: newKeyedPermits({ ...kind, permits: inFlight.perHost }),
        addresses: newKeyedPermits({ ...kind, permits: inFlight.perHost }),
      },
    },
    // a result that yields is fetched again from its beginning, so the last one of an account does not yield
    ofResults: {
      clock,
      underWay,
      queueMs,
      narrow: undefined,
      total: newFairSemaphore({
        ...kind,
        permits: results.parallel,
        waitingMax: RESULTS_WAITING_MAX,
        keepsLast: true,
      }),
    },
  };
}

function toTransferLimits(
  { timeouts, leastBytesPerSecond, speedWindowMs }: FetchConfig,
  totalMs: number,
): TransferLimits {
  return {
    totalMs,
    leastBytesPerSecond,
    speedWindowMs,
    stagesMs: {
      resolve: timeouts.dnsMs,
      connect: timeouts.connectMs,
      headers: timeouts.headersMs,
      body: timeouts.idleMs,
    },
  };
}

function acceptFamily(declared: string | undefined, family: Family): void {
  if (!mayDeclare(declared, family))
    throw new FetchFault(
      'declared_type',
      `must be served as ${family}/…; it is served as another type`,
      `declared as ${declared ?? ''}`,
    );
}

/** The declared type of a result does not count: its bytes decide. */
function acceptAny(): void {
  // every declared type is accepted
}

/** The rule for one kind of fetch: an exception for another kind does not count, neither its address nor its port. */
export function policyFor(
  { allow, ports, urlCharactersMax }: FetchConfig,
  kind: NonNullable<FetchException['purpose']>,
): AddressPolicy {
  return addressPolicy({
    allow: allow.filter(({ purpose = kind }) => purpose === kind),
    ports,
    urlCharactersMax,
  });
}
