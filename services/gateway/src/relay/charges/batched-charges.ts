import type { Clock } from '@reelgate/platform/clock';
import { isRecent } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import { waitForTicks, newBatcher } from '@reelgate/platform/batcher';
import type { FillingBatch } from '@reelgate/platform/batcher';
import type { CallCharges } from './call-charges.ts';
import type { ChargeRequests } from '../../clients/calls-client.ts';
import type { CallEnd, CallOrder, OrderAnswer, ReservedHold } from '../../domain/call-order.ts';
import type { HoldForecast, SentOrder } from './hold-forecast.ts';

/** The maximum number of calls in one request to billing. */
const BATCH_MAX = 500;
/** Requests to billing at the same time. */
const CONCURRENCY = { place: 2, settle: 1 };
/** A caller waits for its hold. While calls come one by one, waiting brings no others. */
const PLACE_FILL_TICKS = { idle: 1, busy: 6 };
/**
 * No client waits for a settlement, and a large batch costs little more than a small one. After a crash these calls are
 * charged by their holds.
 */
const SETTLE_FILL_MS = 20;
/** From this number or age on, the settlements that wait go to billing with the next holds. */
const ALONG = { ends: 25, ageMs: 10 };
/** Settlements that wait for billing. Beyond this number, holds lapse and are charged in full. */
const WAITING_MAX = 100_000;
const RETRY_FIRST_MS = 100;
const RETRY_MAX_MS = 10_000;
const RETRY_FOR_MS = 600_000;
/** Maximum wait of a stop for the settlements that are under way. */
const STOP_MS = 5000;

export interface BatchedChargesOptions {
  readonly requests: ChargeRequests;
  readonly forecast: HoldForecast;
  readonly clock: Clock;
  readonly log: Log;
}

/** Holds and charges calls in batches: calls of the same moment go to billing in one request. */
export function newBatchedCharges(options: BatchedChargesOptions): CallCharges & { stop(): Promise<void> } {
  const { requests, forecast } = options;
  const settlements = newSettlements(options);
  /**
   * True if billing answers ahead of the disk. Its database is then an embedded one, in which requests of the same
   * moment share a commit and its sync. Otherwise the holds would have to wait for a sync of the settlements.
   */
  let isAhead = false;
  const orders = newBatcher<CallOrder, OrderAnswer>({
    batchMax: BATCH_MAX,
    concurrency: CONCURRENCY.place,
    fill: waitForCalls,
    send: (batch) => {
      const answers = requests.reserve(batch);
      if (isAhead) settlements.flushEarly();
      return answers;
    },
  });
  /** The hold may exist although the answer was lost, and no call will be sent under it. */
  const releaseLost =
    ({ callId }: CallOrder) =>
    (error: unknown): never => {
      settlements.add({ callId, charge: { basis: 'released' } });
      throw error;
    };
  const send = async (order: CallOrder, { learn }: SentOrder): Promise<ReservedHold> => {
    const answer = await orders.add(order).catch((error: unknown) => {
      learn(undefined);
      return releaseLost(order)(error);
    });
    learn(answer);
    if ('refusal' in answer) throw answer.refusal;
    isAhead = answer.durable !== undefined;
    return answer;
  };
  return {
    reserve: (order) => {
      const sent = forecast.countSent(order);
      return { isForeseen: sent.isCovered, reserved: send(order, sent) };
    },
    place: async (order) => {
      const { durable } = await send(order, forecast.countSent(order));
      await durable?.catch(releaseLost(order));
    },
    settle: (end) => settlements.add(end),
    stop: () => settlements.stop(),
  };
}

/**
 * Waits for the calls of this moment. A full batch goes immediately: the disk then writes its holds while the answers
 * of the upstream are read.
 */
async function waitForCalls({ isBusy, isWhole }: FillingBatch): Promise<void> {
  for (let left = isBusy ? PLACE_FILL_TICKS.busy : PLACE_FILL_TICKS.idle; left > 0; left -= 1) {
    await waitForTicks(1);
    if (isWhole()) return;
  }
}

interface Settlements {
  add(end: CallEnd): void;
  /** Sends the waiting settlements now, before their time, if they are worth a request. */
  flushEarly(): void;
  stop(): Promise<void>;
}

/** The settlements on their way to billing. */
function newSettlements({ requests, clock, log }: BatchedChargesOptions): Settlements {
  const stopping = new AbortController();
  let unsent = 0;
  let unsentSince = 0;
  /** Those that came after an early request have their time too. */
  const waitUntilDue = async (): Promise<void> => {
    let leftMs = SETTLE_FILL_MS;
    while (leftMs > 0) {
      await clock.sleep(leftMs);
      const isEarly = unsent > 0 && isRecent(clock, unsentSince, SETTLE_FILL_MS);
      leftMs = isEarly ? unsentSince + SETTLE_FILL_MS - clock.now() : 0;
    }
  };
  const ends = newBatcher<CallEnd, true>({
    batchMax: BATCH_MAX,
    concurrency: CONCURRENCY.settle,
    fill: waitUntilDue,
    send: async (batch) => {
      unsent -= batch.length;
      unsentSince = clock.now();
      await sendUntilAccepted(() => requests.settle(batch), { clock, log, signal: stopping.signal });
      return batch.map(() => true as const);
    },
  });
  let waiting = 0;
  let emptied: (() => void) | undefined;
  return {
    add: (end) => {
      const { callId } = end;
      if (waiting >= WAITING_MAX) {
        log.error({ callId }, 'the queue of settlements is full; this hold will lapse');
        return;
      }
      waiting += 1;
      if (unsent === 0) unsentSince = clock.now();
      unsent += 1;
      ends
        .add(end)
        .catch((error: unknown) => log.error({ callId, err: error }, 'a call was not settled; its hold will lapse'))
        .finally(() => {
          waiting -= 1;
          if (waiting === 0) emptied?.();
        });
    },
    flushEarly: () => {
      if (unsent >= ALONG.ends || (unsent > 0 && !isRecent(clock, unsentSince, ALONG.ageMs))) ends.flush();
    },
    stop: async () => {
      ends.flush();
      if (waiting > 0) {
        const over = new AbortController();
        const empty = new Promise<void>((resolve) => {
          emptied = resolve;
        });
        await Promise.race([empty, clock.sleep(STOP_MS, over.signal)]);
        over.abort();
      }
      stopping.abort();
    },
  };
}

/** A repeated settlement has no effect, so it is sent until billing answers. */
async function sendUntilAccepted(
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
      log.warn({ err: error }, 'billing did not take settlements; they are sent again');
      await clock.sleep(pause, signal);
    }
  }
}
