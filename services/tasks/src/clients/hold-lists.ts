import type { MessageInitShape } from '@bufbuild/protobuf';
import { newBatcher, waitForTicks } from '@reelgate/platform/batcher';
import type { Clock } from '@reelgate/platform/clock';
import { currentRequestId } from '@reelgate/platform/request-context';
import { callSpans } from '@reelgate/platform/rpc/call-span';
import { fromWireProblem, isMethodUnknown } from '@reelgate/platform/rpc/problems';
import type { CallOptions, Client } from '@reelgate/platform/rpc/service';
import { serviceUnavailable } from '@reelgate/platform/service-unavailable';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import type { HoldPlacement, PlaceHoldRequestSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { Hold } from '@reelgate/proto/billing/v1/hold';
import { repeatIfLost } from './repeat-if-lost.ts';

/** The most holds of one call; billing refuses more. */
const LIST_MAX = 64;
/** Calls at the same time. One that waits for a row of billing's database does not hold all others up. */
const CONCURRENCY = 8;
/** A hold waits for those that are asked for at the same moment. While holds come one by one, that brings no others. */
const FILL_TICKS = { idle: 1, busy: 3 };
/** Holds are placed one by one for so long after a replica of billing did not know lists. It is replaced soon. */
const SINGLY_MS = 10_000;

type Request = MessageInitShape<typeof PlaceHoldRequestSchema>;

interface HoldOrder extends CallOptions {
  readonly request: Request;
}

/** The answer of billing about one hold. */
type Answer = { readonly hold: Hold | undefined } | { readonly refusal: unknown };

/** Places holds. Those that are asked for at the same moment go to billing in one call. */
export interface HoldLists {
  /** Refuses what a call for this hold alone would refuse. A caller that leaves is not waited for. */
  place(request: Request, options?: CallOptions): Promise<Hold | undefined>;
}

/**
 * A hold that comes alone is a call of its own. In a list each hold keeps its request and its span, and its caller
 * leaves alone: the list goes on while one caller waits, and the create of one that has left releases its hold, as it
 * does after every call without an answer.
 */
export function openHoldLists(rpc: Client<typeof BillingService>, clock: Clock): HoldLists {
  let singlyUntil = 0;
  const placeAlone = ({ request, ...options }: HoldOrder): Promise<Answer> =>
    repeatIfLost(() => rpc.placeHold(request, options), options).then(
      ({ hold }) => ({ hold }),
      (refusal: unknown) => ({ refusal }),
    );
  const placeTogether = async (orders: readonly HoldOrder[]): Promise<readonly Answer[]> => {
    try {
      return await placeList(rpc, orders);
    } catch (error) {
      if (!isMethodUnknown(error)) throw error;
      singlyUntil = clock.now() + SINGLY_MS;
      return Promise.all(orders.map(placeAlone));
    }
  };
  const batcher = newBatcher<HoldOrder, Answer>({
    batchMax: LIST_MAX,
    concurrency: CONCURRENCY,
    fill: (isBusy) => waitForTicks(isBusy ? FILL_TICKS.busy : FILL_TICKS.idle),
    send: async (batch) => {
      if (batch.length === 1 || clock.now() < singlyUntil) return Promise.all(batch.map(placeAlone));
      const awaited = batch.filter(({ signal }) => signal?.aborted !== true);
      const answers = (await (awaited.length === 0 ? [] : placeTogether(awaited))).values();
      return batch.map((order) =>
        awaited.includes(order) ? (answers.next().value ?? { refusal: new Error(NO_ANSWER) }) : newLeave(order.signal),
      );
    },
  });
  return {
    place: async (request, options = {}) => {
      const order = { requestId: currentRequestId(), ...options, request };
      const answer = await untilLeft(options.signal, batcher.add(order));
      if ('refusal' in answer) throw answer.refusal;
      return answer.hold;
    },
  };
}

const NO_ANSWER = 'a hold of a list has no answer';
/** Each hold has the span that a call of its own has. */
const beginCallSpan = callSpans(BillingService.method.placeHold, 'client');

async function placeList(rpc: Client<typeof BillingService>, orders: readonly HoldOrder[]): Promise<readonly Answer[]> {
  const spans = orders.map(({ span }) => beginCallSpan(span));
  const list = orders.map(({ request, requestId = '' }, index) => ({
    hold: request,
    requestId,
    traceParent: spans[index]?.span.carrier ?? '',
  }));
  const signal = signalWhenAllLeave(orders);
  try {
    const { placements } = await repeatIfLost(() => rpc.placeHolds({ orders: list }, { signal }), { signal });
    const answers = orders.map((_order, index) => fromPlacement(placements[index]));
    for (const [index, answer] of answers.entries()) if ('refusal' in answer) spans[index]?.failed(answer.refusal);
    return answers;
  } catch (error) {
    for (const { failed } of spans) failed(error);
    throw error;
  } finally {
    for (const { end } of spans) end();
  }
}

function fromPlacement(placement: HoldPlacement | undefined): Answer {
  const { result } = placement ?? {};
  if (result?.case === 'refusal') return { refusal: fromWireProblem(result.value) };
  return result?.case === 'held' ? { hold: result.value } : { refusal: new Error(NO_ANSWER) };
}

/** Aborted when the callers of all orders have left; undefined: one of them never leaves. */
function signalWhenAllLeave(orders: readonly HoldOrder[]): AbortSignal | undefined {
  const signals = orders.flatMap(({ signal }) => signal ?? []);
  if (signals.length < orders.length) return undefined;
  const all = new AbortController();
  let left = signals.length;
  for (const signal of signals) {
    signal.addEventListener(
      'abort',
      () => {
        left -= 1;
        if (left === 0) all.abort(signal.reason);
      },
      { once: true },
    );
  }
  return all.signal;
}

function newLeave(signal: AbortSignal | undefined): Answer {
  return { refusal: serviceUnavailable(signal?.reason) };
}

/** Rejects when the caller leaves, as a call of its own would. */
function untilLeft<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => {
      reject(serviceUnavailable(signal.reason));
    };
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => {
      signal.removeEventListener('abort', leave);
    });
  });
}
