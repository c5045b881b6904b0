import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { Problem, isProblem } from '@reelgate/platform/problem';
import { fromWireProblem, toWireProblem } from '@reelgate/platform/rpc/problems';
import type { Client } from '@reelgate/platform/rpc/service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type {
  CallEnd as WireEnd,
  CallOrder as WireOrder,
  CallService,
  CallUsage,
} from '@reelgate/proto/billing/v1/call_service';
import type { PriceFacts } from '@reelgate/proto/billing/v1/price';
import type { Problem as WireProblem } from '@reelgate/proto/problem/v1/problem';
import type { CallCharges, CallOrder, Charge } from '../relay/charges/call-charges.ts';
import type { Bound, Usage } from '../relay/protocols/protocol.ts';
import { gatherer, turns } from '../relay/charges/batcher.ts';

const DEADLINE_MS = 5000;
/** Calls in one request to billing. */
const BATCH_MAX = 500;
/** Requests to billing at one time, of each kind. */
const BATCHES_AT_ONCE = { place: 2, settle: 1 };
/** Callers wait for a hold. In a program that has nothing else to do this takes microseconds. */
const PLACE_TURNS = 6;
/** Nobody waits for a settlement, and a batch costs nearly the same however many are in it. What a crash cuts off here is charged as it is held. */
const SETTLE_GATHER_MS = 20;
/** Settlements that wait for billing; beyond it the holds lapse, and are charged as they stand. */
const WAITING_MAX = 100_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 10_000;
const RETRY_FOR_MS = 600_000;
/** So long a stop waits for what is not settled yet. */
const STOP_MS = 5000;

export type BillingCalls = Client<typeof CallService>;

export interface CallChargesOptions {
  readonly billing: BillingCalls;
  readonly clock: Clock;
  readonly log: Log;
}

/** Charges by billing's batches: what waits at the same moment goes in one request, and nothing waits for company. */
export function billingCallCharges({
  billing,
  clock,
  log,
}: CallChargesOptions): CallCharges & { stop(): Promise<void> } {
  const stopping = new AbortController();
  const place = gatherer<WireOrder, Placed>({
    batchMax: BATCH_MAX,
    atOnce: BATCHES_AT_ONCE.place,
    gathered: () => turns(PLACE_TURNS),
    send: (calls) => sendOrders(billing, calls),
  });
  const settle = gatherer<WireEnd, true>({
    batchMax: BATCH_MAX,
    atOnce: BATCHES_AT_ONCE.settle,
    gathered: () => clock.sleep(SETTLE_GATHER_MS),
    send: async (ends) => {
      await untilTaken(
        () => billing.settleCalls({ ends: [...ends], withoutSettlements: true }, { timeoutMs: DEADLINE_MS }),
        { clock, log, signal: stopping.signal },
      );
      return ends.map(() => true as const);
    },
  });
  let waiting = 0;
  let emptied: (() => void) | undefined;
  const end = (callId: string, charge: Charge): void => {
    if (waiting >= WAITING_MAX) {
      log.error({ callId }, 'too many settlements wait for billing; this hold will lapse');
      return;
    }
    waiting += 1;
    settle
      .take(toWireEnd(callId, charge))
      .catch((error: unknown) => {
        log.error({ callId, err: error }, 'a call was not settled; its hold will lapse');
      })
      .finally(() => {
        waiting -= 1;
        if (waiting === 0) emptied?.();
      });
  };
  return {
    place: async (order) => {
      assertHeld(
        await place.take(toWireOrder(order)).catch((error: unknown) => {
          // The hold may stand, or may yet be placed, and nothing will be called under it.
          end(order.callId, { basis: 'released' });
          throw error;
        }),
      );
    },
    settle: end,
    stop: async () => {
      settle.leave();
      if (waiting > 0) {
        const over = new AbortController();
        await Promise.race([
          new Promise<void>((resolve) => {
            emptied = resolve;
          }),
          clock.sleep(STOP_MS, over.signal),
        ]);
        over.abort();
      }
      stopping.abort();
    },
  };
}

/** What became of an order. */
interface Placed {
  readonly refusal: WireProblem | undefined;
}

const HELD: Placed = { refusal: undefined };

/** A billing that is older than this program tells of every call. */
async function sendOrders(billing: BillingCalls, calls: readonly WireOrder[]): Promise<readonly Placed[]> {
  const { placed, refused, held } = await billing.placeCalls(
    { calls: [...calls], refusalsOnly: true },
    { timeoutMs: DEADLINE_MS },
  );
  if (placed.length > 0)
    return placed.map(({ result }) => (result.case === 'held' ? HELD : { refusal: result.value ?? NO_ANSWER }));
  if (held + refused.length !== calls.length)
    throw new Problem({ kind: 'internal', reason: 'internal_error', message: 'something went wrong here' });
  if (refused.length === 0) return calls.map(() => HELD);
  const refusals = new Map(refused.map(({ callId, refusal = NO_ANSWER }) => [callId, { refusal }]));
  return calls.map(({ callId }) => refusals.get(callId) ?? HELD);
}

const NO_ANSWER = toWireProblem(
  new Problem({ kind: 'internal', reason: 'internal_error', message: 'something went wrong here' }),
);

function assertHeld({ refusal }: Placed): void {
  if (refusal !== undefined) throw fromWireProblem(refusal);
}

/** Settling twice is harmless, so it is tried until billing has answered. */
async function untilTaken(
  send: () => Promise<unknown>,
  { clock, log, signal }: { readonly clock: Clock; readonly log: Log; readonly signal: AbortSignal },
): Promise<void> {
  const until = clock.now() + RETRY_FOR_MS;
  for (let pause = RETRY_FIRST_MS; ; pause = Math.min(RETRY_MAX_MS, 2 * pause)) {
    try {
      await send();
      return;
    } catch (error) {
      if (signal.aborted || clock.now() >= until || (isProblem(error) && error.kind === 'invalid')) throw error;
      log.warn({ err: error }, 'settlements were not taken; they are sent again');
      await clock.sleep(pause, signal);
    }
  }
}

/*
 * Thousands of these a second: whole messages, as `create` would make them, without its walk through their descriptors.
 */

function toWireOrder({ callId, accountId, tokenId, priceKeys, bound, lapsesAt }: CallOrder): WireOrder {
  return {
    $typeName: 'reelgate.billing.v1.CallOrder',
    callId,
    accountId,
    tokenId,
    priceKeys: [...priceKeys],
    facts: toWireFacts(bound),
    lapsesAt: timestampFromMs(lapsesAt),
  };
}

/** Tokens of which one side is not known are none: the contract's own hold stands for them then. */
function toWireFacts({ inputTokens, outputTokens, images = 0, characters = 0 }: Bound): PriceFacts {
  const known = inputTokens !== undefined && outputTokens !== undefined;
  return {
    $typeName: 'reelgate.billing.v1.PriceFacts',
    priceKey: '',
    resolution: '',
    seconds: 0n,
    inputVideoSeconds: 0n,
    images: BigInt(images),
    inputTokens: BigInt(known ? inputTokens : 0),
    outputTokens: BigInt(known ? outputTokens : 0),
    characters: BigInt(characters),
  };
}

const BASES: Readonly<Record<Charge['basis'], Basis>> = {
  usage: Basis.USAGE,
  estimate: Basis.ESTIMATE,
  hold: Basis.HOLD,
  released: Basis.RELEASED,
};

function toWireEnd(callId: string, charge: Charge): WireEnd {
  const basis = BASES[charge.basis];
  return 'usage' in charge
    ? { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis, usage: toWireUsage(charge.usage) }
    : { $typeName: 'reelgate.billing.v1.CallEnd', callId, basis };
}

function toWireUsage({ inputTokens, outputTokens, seconds, images, cachedInputTokens, characters }: Usage): CallUsage {
  const wire: CallUsage = { $typeName: 'reelgate.billing.v1.CallUsage' };
  if (inputTokens !== undefined) wire.inputTokens = BigInt(inputTokens);
  if (outputTokens !== undefined) wire.outputTokens = BigInt(outputTokens);
  if (seconds !== undefined) wire.seconds = BigInt(seconds);
  if (images !== undefined) wire.images = BigInt(images);
  if (cachedInputTokens !== undefined) wire.cachedInputTokens = BigInt(cachedInputTokens);
  if (characters !== undefined) wire.characters = BigInt(characters);
  return wire;
}
