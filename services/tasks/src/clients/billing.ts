import type { Clock } from '@reelgate/platform/clock';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import type { EveryField } from '@reelgate/platform/rpc/whole-message';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { PlaceHoldRequest, HoldOrder, HoldPlacement } from '@reelgate/proto/billing/v1/billing_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { Hold } from '@reelgate/proto/billing/v1/hold';
import { TokenClass } from '@reelgate/proto/billing/v1/token_queue';
import type { PriceFacts as WireFacts } from '@reelgate/proto/billing/v1/price';
import type { CallService } from '@reelgate/proto/billing/v1/call_service';
import type { PriceFacts } from '../domain/price-facts.ts';
import type { PriceBound, Usage } from '../domain/task.ts';
import { newCallLists } from '@reelgate/platform/rpc/call-lists';
import type { CallLists, ListedCall, Outcome } from '@reelgate/platform/rpc/call-lists';
import { fromWireProblem } from '@reelgate/platform/rpc/problems';

export interface Quote {
  readonly amountNanos: bigint;
  readonly currency: string;
  readonly contract: string;
  readonly version: number;
  /** The least bound that a hold is placed under. */
  readonly maxAmountNanos: bigint;
}

/** A hold as billing has placed it. */
export interface PlacedHold {
  /** The key of its contract, under which it is extended. */
  readonly contract: string;
}

/** A request to place a hold. */
export interface HoldRequest extends PriceBound {
  readonly taskId: string;
  readonly accountId: string;
  readonly tokenId: string;
  readonly facts: PriceFacts;
  /** The client's word under which the charge is counted; undefined if the client gave no word. */
  readonly label?: string | undefined;
}

export interface SettleOptions extends EndOptions {
  /** A person has confirmed the charge. */
  readonly confirmed?: boolean | undefined;
}

/** The work at the upstream that a hold ends for. */
export interface EndOptions extends CallOptions {
  /** The channel that did the work, for its cost. */
  readonly channel?: string | undefined;
  /** The charge that the upstream reported, in millionths of a US dollar. */
  readonly upstreamCostMicroUsd?: number | undefined;
}

/**
 * The calls of billing that this service needs. Each call names the task, so repeating it is harmless. The signal
 * passes on the deadline of the caller, and the span passes on the trace that the call belongs to.
 */
export interface Billing {
  quote(accountId: string, facts: PriceFacts, signal?: AbortSignal): Promise<Quote>;
  /** Throws if a hold could not be placed now. Moves no money. */
  checkHold(hold: Omit<HoldRequest, 'taskId' | 'label'>, signal?: AbortSignal): Promise<void>;
  placeHold(hold: HoldRequest, options?: CallOptions): Promise<PlacedHold>;
  extendHold(taskId: string, facts: PriceFacts, options?: CallOptions): Promise<void>;
  /** Returns how the hold has ended: an earlier charge stands. */
  releaseHold(taskId: string, options?: EndOptions): Promise<'released' | 'charged'>;
  /** Blocks a hold that was never placed. Returns whether the task has no hold and can get no hold. */
  precludeHold(taskId: string, options?: CallOptions): Promise<boolean>;
  /**
   * Returns how the hold has ended. An earlier release stands. `deferred` says that the usage is far above the hold,
   * that it was not charged, and that a person must decide.
   */
  settle(
    taskId: string,
    usage: Usage | undefined,
    options?: SettleOptions,
  ): Promise<'settled' | 'deferred' | 'released'>;
  /** Returns the tasks, among at most 100, with holds that have ended for good, by a charge or a release. */
  findEnded(taskIds: readonly string[], options?: CallOptions): Promise<ReadonlySet<string>>;
}

/** The final charge of a task or a job; zero if its hold was released. */
export interface FinalCharge {
  readonly nanos: bigint;
  readonly currency: string;
}

/** Reads charges. */
export interface ChargeReader {
  /** Returns the charges of the tasks and jobs, among at most 100, with holds that have ended for good. */
  listFinalCharges(ids: readonly string[], options?: CallOptions): Promise<ReadonlyMap<string, FinalCharge>>;
}

/** The end of a hold that was to be settled, if it is not settled by this basis. */
const SETTLED_BY: Readonly<Partial<Record<Basis, 'deferred' | 'released'>>> = {
  [Basis.DEFERRED]: 'deferred',
  [Basis.RELEASED]: 'released',
};
const CHARGED: ReadonlySet<Basis> = new Set([Basis.USAGE, Basis.ESTIMATE, Basis.HOLD]);
const ENDED: ReadonlySet<Basis> = new Set([...CHARGED, Basis.RELEASED]);

export function chargesClient(rpc: Pick<Client<typeof BillingService>, 'listCharges'>): ChargeReader {
  return {
    listFinalCharges: async (ids, options) => {
      const { charges } = await rpc.listCharges({ taskIds: [...ids] }, options);
      return new Map(
        charges.flatMap(({ taskId, basis, chargedNanos = 0n, currency }) =>
          ENDED.has(basis) ? [[taskId, { nanos: basis === Basis.RELEASED ? 0n : chargedNanos, currency }]] : [],
        ),
      );
    },
  };
}

export function billingClient(rpc: Client<typeof BillingService>, clock: Clock): Billing {
  const lists = newHoldLists(rpc, clock);
  return {
    quote: async (accountId, facts, signal) => {
      const { quote } = await rpc.quotePrice({ accountId, facts: toWireFacts(facts) }, { signal });
      return {
        amountNanos: quote?.amountNanos ?? 0n,
        currency: quote?.currency ?? '',
        contract: quote?.contract ?? '',
        version: quote?.version ?? 0,
        maxAmountNanos: quote?.maxAmountNanos ?? 0n,
      };
    },
    checkHold: async ({ accountId, tokenId, facts, ...bound }, signal) => {
      await rpc.checkHold({ accountId, tokenId, facts: toWireFacts(facts), ...toWireBound(bound) }, { signal });
    },
    placeHold: async (request, options) => {
      const hold = await lists.call(toWireHold(request), options);
      return { contract: hold?.contract ?? request.facts.priceKey };
    },
    extendHold: async (taskId, facts, options) => {
      await rpc.extendHold({ taskId, facts: toWireFacts(facts) }, options);
    },
    releaseHold: async (taskId, { channel, upstreamCostMicroUsd, ...options } = {}) => {
      const request = { taskId, ...toWireWork(channel, upstreamCostMicroUsd) };
      const { settlement } = await rpc.releaseHold(request, options);
      return CHARGED.has(settlement?.basis ?? Basis.RELEASED) ? 'charged' : 'released';
    },
    precludeHold: async (taskId, options) => (await rpc.precludeHold({ taskId }, options)).precluded,
    settle: async (taskId, usage = {}, { confirmed = false, channel, upstreamCostMicroUsd, ...options } = {}) => {
      const by = toWireWork(channel, upstreamCostMicroUsd);
      const { settlement } = await rpc.settleHold({ taskId, confirmed, ...by, ...toWireUsage(usage) }, options);
      return SETTLED_BY[settlement?.basis ?? Basis.UNSPECIFIED] ?? 'settled';
    },
    findEnded: async (taskIds, options) => {
      const { charges } = await rpc.listCharges({ taskIds: [...taskIds] }, options);
      return new Set(charges.flatMap(({ taskId, basis }) => (ENDED.has(basis) ? [taskId] : [])));
    },
  };
}

const CLASSES = deriveValues(TokenClass);

function toWireBound({ maxAmountNanos, currency }: PriceBound) {
  return {
    ...(maxAmountNanos === undefined ? {} : { maxAmountNanos }),
    ...(currency === undefined ? {} : { currency }),
  };
}

function toWireHold(hold: HoldRequest): PlaceHoldRequest {
  const { taskId, accountId, tokenId, facts, maxAmountNanos, currency = '', label = '' } = hold;
  return {
    $typeName: 'reelgate.billing.v1.PlaceHoldRequest',
    taskId,
    accountId,
    tokenId,
    facts: toWireFacts(facts),
    maxAmountNanos,
    currency,
    label,
  } satisfies EveryField<PlaceHoldRequest>;
}

function toWireFacts(facts: PriceFacts): WireFacts {
  return {
    $typeName: 'reelgate.billing.v1.PriceFacts',
    priceKey: facts.priceKey,
    resolution: facts.resolution,
    seconds: BigInt(facts.seconds),
    inputVideoSeconds: BigInt(facts.inputVideoSeconds),
    images: BigInt(facts.images),
    inputTokens: 0n,
    outputTokens: 0n,
    characters: 0n,
    class: facts.class === undefined ? TokenClass.UNSPECIFIED : CLASSES[facts.class],
    searches: undefined,
    choices: [...(facts.choices ?? [])],
  } satisfies EveryField<WireFacts>;
}

/** The counts of a usage that a price can depend on. A count that the upstream did not report is left out. */
function toWireUsage({ totalSeconds, promptTokens, completionTokens }: Usage) {
  return {
    ...(totalSeconds === undefined ? {} : { totalSeconds: BigInt(totalSeconds) }),
    ...(promptTokens === undefined ? {} : { inputTokens: BigInt(promptTokens) }),
    ...(completionTokens === undefined ? {} : { outputTokens: BigInt(completionTokens) }),
  };
}

function toWireWork(channel: string | undefined, microUsd: number | undefined) {
  return {
    ...(channel === undefined ? {} : { channel }),
    ...(microUsd === undefined ? {} : { upstreamCostMicroUsd: BigInt(microUsd) }),
  };
}

/** The money of calls over which a person decides. */
export interface Calls {
  /** Charges or releases the hold of a call. The first end is final; returns which it was. */
  end(callId: string, how: 'charged' | 'released'): Promise<'charged' | 'released'>;
}

const BASES = { charged: Basis.HOLD, released: Basis.RELEASED } as const;

export function callsClient(rpc: Client<typeof CallService>): Calls {
  return {
    end: async (callId, how) => {
      const { settlements } = await rpc.settleCalls({ ends: [{ callId, basis: BASES[how] }] });
      const basis = settlements[0]?.basis ?? Basis.UNSPECIFIED;
      if (basis === Basis.UNSPECIFIED) return how;
      return basis === Basis.RELEASED ? 'released' : 'charged';
    },
  };
}

/** The most holds of one call; billing refuses more. */
const LIST_MAX = 64;
/** Calls at the same time. One that waits for a row of billing's database does not hold all others up. */
const CONCURRENCY = 8;

/**
 * Places holds. Those that are asked for at the same moment go to billing in one call. A list goes on while one caller
 * waits: the create of one that has left releases its hold, as it does after every call without an answer.
 */
export type HoldLists = CallLists<PlaceHoldRequest, Hold | undefined>;

export function newHoldLists(rpc: Client<typeof BillingService>, clock: Clock): HoldLists {
  return newCallLists({
    method: BillingService.method.placeHold,
    clock,
    listMax: LIST_MAX,
    listsMax: CONCURRENCY,
    whenFull: 'wait',
    callAlone: async (request, options) => (await rpc.placeHold(request, options)).hold,
    callTogether: async (calls, options, settle) => {
      const orders = calls.map(toWireOrder);
      const { placements } = await rpc.placeHolds({ orders }, options);
      for (const [index, placement] of placements.entries()) settle(index, fromPlacement(placement));
    },
  });
}

function toWireOrder({ request: hold, requestId, traceParent }: ListedCall<PlaceHoldRequest>): HoldOrder {
  return { $typeName: 'reelgate.billing.v1.HoldOrder', hold, requestId, traceParent } satisfies EveryField<HoldOrder>;
}

function fromPlacement({ result }: HoldPlacement): Outcome<Hold> {
  if (result.case === 'held') return { answer: result.value };
  return { refusal: result.case === 'refusal' ? fromWireProblem(result.value) : new Error('a hold has no outcome') };
}
