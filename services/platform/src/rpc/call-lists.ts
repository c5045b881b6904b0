import type { DescMethod } from '@bufbuild/protobuf';
import { newBatcher, waitForTicks } from '../batcher.ts';
import type { Clock } from '../clock.ts';
import { currentRequestId } from '../request-context.ts';
import { serviceUnavailable } from '../service-unavailable.ts';
import { callSpans } from './call-span.ts';
import { compileMeasure } from './message-size.ts';
import type { CallOptions } from './service.ts';

/**
 * The time for which a call waits for other calls of the same moment. While calls come one by one, longer waits are
 * useless.
 */
const FILL_TICKS = { idle: 1, busy: 3 };

/** A call of a list, with the values that a single call has as metadata. */
export interface ListedCall<I> {
  readonly request: I;
  readonly requestId: string;
  readonly traceParent: string;
}

/** The end of one call of a list. */
export type Outcome<O> = { readonly answer: O } | { readonly refusal: unknown };

/** Takes the outcome of the call at a place of a list. */
export type ReportOutcome<O> = (index: number, outcome: Outcome<O>) => void;

export interface CallListOptions<I, O> {
  /** The method of a call alone. Each call has the span that one alone has. */
  readonly method: DescMethod;
  readonly clock: Clock;
  /** The maximum number of calls in one list. The service refuses longer lists. */
  readonly listMax: number;
  /** The maximum number of lists that are being sent. */
  readonly listsMax: number;
  /** The way of calls that find `listsMax` lists under way. */
  readonly whenFull: 'wait' | 'go alone';
  /**
   * Larger requests go alone, so that a list is never too large for one message. By default no request counts as
   * larger.
   */
  readonly requestBytesMax?: number;
  /**
   * If true, a caller that can leave goes alone, because the service would notice its leaving only with the whole list.
   */
  readonly leaversGoAlone?: boolean;
  readonly callAlone: (request: I, options: CallOptions) => Promise<O>;
  /** Sends the calls of a list, and reports each outcome as soon as it is known. Resolves when all are known. */
  readonly callTogether: (
    calls: readonly ListedCall<I>[],
    options: CallOptions,
    report: ReportOutcome<O>,
  ) => Promise<unknown>;
}

interface Order<I, O> {
  readonly request: I;
  readonly options: CallOptions;
  /** A time of the clock, or Infinity without a deadline. */
  readonly deadline: number;
  readonly resolve: (answer: O | Promise<O>) => void;
  readonly reject: (refusal: unknown) => void;
}

/** Sends calls of the same moment to the service in one call. */
export interface CallLists<I, O> {
  /** Refuses the requests that a single call would refuse. A caller that leaves is not waited for. */
  call(request: I, options?: CallOptions): Promise<O>;
}

/**
 * Creates lists of calls. A call without company is sent as a single call. In a list each keeps its request and its
 * span, and its caller can leave: the list continues while one caller waits. A list that ends early ends the calls
 * without an outcome as it would have ended each of them.
 */
export function newCallLists<I extends object, O>(listing: CallListOptions<I, O>): CallLists<I, O> {
  const { clock, listMax, listsMax, whenFull, callAlone } = listing;
  const { requestBytesMax = Infinity, leaversGoAlone = false } = listing;
  const measureRequest = requestBytesMax === Infinity ? () => 0 : compileMeasure(listing.method.input);
  const mustGoAlone = (request: I, { signal }: CallOptions): boolean =>
    (leaversGoAlone && signal !== undefined) || measureRequest(request) > requestBytesMax;
  const sendList = listSender(listing);
  let running = 0;
  const sendAlone = (orders: readonly Order<I, O>[]): Promise<unknown> =>
    Promise.allSettled(
      orders.map(({ request, options: given, resolve }) => {
        const answer = (async () => callAlone(request, given))();
        resolve(answer);
        return answer;
      }),
    );
  const sendTogether = async (orders: readonly Order<I, O>[]): Promise<void> => {
    running += 1;
    await sendList(orders).finally(() => {
      running -= 1;
    });
  };
  const send = (batch: readonly Order<I, O>[]): Promise<unknown> => {
    if (batch.length === 1 || running >= listsMax) return sendAlone(batch);
    const awaited = batch.filter(({ options: { signal }, reject }) => {
      if (signal?.aborted === true) reject(serviceUnavailable(signal.reason));
      return signal?.aborted !== true;
    });
    // The deadlines of a list are then close together, and the list has the earliest of them.
    return Promise.all([...Map.groupBy(awaited, ({ options: { timeoutMs } }) => timeoutMs).values()].map(sendTogether));
  };
  const batcher = newBatcher<Order<I, O>, true>({
    batchMax: listMax,
    concurrency: listsMax,
    fill: (isBusy) => waitForTicks(isBusy ? FILL_TICKS.busy : FILL_TICKS.idle),
    send: async (batch) => {
      const sent = send(batch);
      if (whenFull === 'wait') await sent;
      return batch.map(() => true);
    },
  });
  return {
    call: (request, given = {}) => {
      if (mustGoAlone(request, given)) return callAlone(request, given);
      const { promise, resolve, reject } = Promise.withResolvers<O>();
      const options = { requestId: currentRequestId(), ...given };
      const deadline = clock.now() + (given.timeoutMs ?? Infinity);
      batcher.add({ request, options, deadline, resolve, reject }).catch(reject);
      return untilLeft(given.signal, promise);
    },
  };
}

/** Sends a list, and ends its calls. */
type SendList<I, O> = (orders: readonly Order<I, O>[]) => Promise<void>;

function listSender<I, O>({ method, clock, callTogether }: CallListOptions<I, O>): SendList<I, O> {
  const beginSpan = callSpans(method, 'client');
  return async (orders) => {
    const spans = orders.map(({ options: { span } }) => beginSpan(span));
    const waiting = new Map(orders.map((order, index) => [index, { order, span: spans[index] }]));
    const report = (index: number, outcome: Outcome<O>): void => {
      const { order, span } = waiting.get(index) ?? {};
      waiting.delete(index);
      if ('refusal' in outcome) {
        span?.failed(outcome.refusal);
        order?.reject(outcome.refusal);
      } else order?.resolve(outcome.answer);
      span?.end();
    };
    const refuseRest = (refusal: unknown): void => {
      for (const index of waiting.keys()) report(index, { refusal });
    };
    const calls = orders.map(({ request, options: { requestId = '' } }, index) => ({
      request,
      requestId,
      traceParent: spans[index]?.span.carrier ?? '',
    }));
    try {
      await callTogether(
        calls,
        { signal: signalWhenAllLeave(orders), timeoutMs: computeTimeLeft(orders, clock) },
        report,
      );
      refuseRest(new Error(`a call of ${method.name} in a list has no outcome`));
    } catch (error) {
      refuseRest(error);
    }
  };
}

/** Computes the time until the earliest deadline. Returns undefined if the orders have no deadlines. */
function computeTimeLeft(orders: readonly { readonly deadline: number }[], clock: Clock): number | undefined {
  const first = Math.min(...orders.map(({ deadline }) => deadline));
  return first === Infinity ? undefined : Math.max(first - clock.now(), 0);
}

/**
 * Returns a signal that is aborted when the callers of all orders have left, or undefined if one of them never leaves.
 */
function signalWhenAllLeave(orders: readonly { readonly options: CallOptions }[]): AbortSignal | undefined {
  const signals = orders.flatMap(({ options: { signal } }) => signal ?? []);
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

/** Rejects when the caller leaves, as a call of its own would. */
function untilLeft<T>(signal: AbortSignal | undefined, work: Promise<T>): Promise<T> {
  if (signal === undefined) return work;
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(serviceUnavailable(signal.reason));
    signal.addEventListener('abort', leave, { once: true });
    work.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
