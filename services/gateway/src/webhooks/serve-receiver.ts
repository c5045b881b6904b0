import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem, readErrorType } from '@reelgate/platform/problem';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import type { Tracing } from '@reelgate/platform/trace/trace';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { WebhookReceiverRecordSchema } from '@reelgate/proto/tasks/v1/webhook_service';
import type { SenderClient } from '../clients/gateway-clients.ts';
import type { HeldLease } from '../operations/leased-pool.ts';
import type { AttemptRecords } from './attempt-records.ts';
import { beginDelivery, deliveryFields, endDelivery, makeAttempt, newUnsentAttempt } from './make-attempt.ts';
import type { DueDelivery, LeasedReceiver, MadeAttempt } from './make-attempt.ts';
import type { BodyBytes } from './event-body.ts';

const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 8000;
/** The attempts to one receiver that are under way at once. */
const CONCURRENCY = 4;
/** The tasks service then lets the receiver rest. */
const FAILURES_MAX = 5;
const DELIVERED = 'a webhook was delivered';
const NOT_TAKEN = 'a receiver did not take a webhook';

export interface ServeDeps {
  readonly sender: SenderClient;
  readonly records: AttemptRecords;
  readonly clock: Clock;
  readonly log: Log;
  readonly tracing: Tracing;
}

/** A leased receiver, with all that its session needs. */
export interface ReceiverWork {
  readonly receiver: LeasedReceiver;
  readonly encodeBody: BodyBytes;
  /** No attempt begins at this time or later. */
  readonly beginUntil: number;
}

export interface ServeOptions extends ReceiverWork {
  readonly held: HeldLease;
}

/** Attempts the deliveries of a leased receiver, records the attempts and gives the lease back. */
export async function serveReceiver(deps: ServeDeps, options: ServeOptions): Promise<void> {
  const { records, clock } = deps;
  const { receiver, held, beginUntil } = options;
  const { receiverId, lease, deliveries } = receiver;
  const waiting = deliveries.values();
  const circuit = openCircuit(receiver);
  let areWritten = true;
  const mayBegin = (): boolean =>
    held.isHeld() && circuit.concurrency() > 0 && !held.stopping.aborted && clock.now() < beginUntil;
  const record = async (attempts: MadeAttempt[], returned: boolean): Promise<void> => {
    const done = toMessage(WebhookReceiverRecordSchema, { receiverId, lease, attempts, returned });
    if (await records.add(done)) return;
    areWritten = false;
    held.lose();
  };
  const attempt = newAttempter(deps, options, { mayBegin, count: () => circuit.count() });
  const running = new Set<Promise<void>>();
  const begin = (delivery: DueDelivery): void => {
    const done = attempt(delivery).then((made) => {
      running.delete(done);
      if (made === undefined) return;
      circuit.note(made);
      void record([made], false);
    });
    running.add(done);
  };
  for (;;) {
    while (mayBegin() && running.size < circuit.concurrency()) {
      const { value: delivery } = waiting.next();
      if (delivery === undefined) break;
      begin(delivery);
    }
    if (running.size === 0) break;
    await Promise.race(running);
  }
  // a lease whose attempts are not all written ends by itself
  if (areWritten) await record([], true);
}

/** Attempts a delivery until it is sent. Resolves to undefined if no further attempt may begin. */
function newAttempter(
  deps: ServeDeps,
  options: ServeOptions,
  state: { readonly mayBegin: () => boolean; readonly count: () => bigint },
): (delivery: DueDelivery) => Promise<MadeAttempt | undefined> {
  const { clock, log } = deps;
  const { receiver, encodeBody, held } = options;
  const attemptOnce = async (delivery: DueDelivery, isFirst: boolean): Promise<MadeAttempt | 'later' | undefined> => {
    const at = clock.now();
    const circuit = state.count();
    const about = { receiverId: receiver.receiverId, ...deliveryFields(delivery) };
    const span = beginDelivery(deps.tracing, receiver, delivery);
    return inTrace(span.traceId, async () => {
      try {
        const body = await encodeBody(delivery.event, receiver.payload);
        if (!state.mayBegin()) return undefined;
        const made = await makeAttempt(deps, { receiver, delivery, body, circuit, signal: held.cutOff, span });
        endDelivery(span, made);
        const { statusCode: status, error, durationMs } = made.attempt;
        log.info({ ...about, status, error, durationMs: Number(durationMs) }, error === '' ? DELIVERED : NOT_TAKEN);
        return made;
      } catch (error) {
        if (held.cutOff.aborted) return undefined;
        span.fail(readErrorType(error));
        span.end();
        if (isFirst || !isTransient(error)) log.warn({ ...about, err: error }, 'a webhook could not be sent');
        return isTransient(error) ? 'later' : newUnsentAttempt(delivery, { at, circuit });
      }
    });
  };
  return (delivery) =>
    inRequest(delivery.requestId, async () => {
      for (let pause = PAUSE_FIRST_MS; state.mayBegin(); pause = Math.min(PAUSE_MAX_MS, 2 * pause)) {
        const made = await attemptOnce(delivery, pause === PAUSE_FIRST_MS);
        if (made !== 'later') return made;
        await clock.sleep(pause, held.stopping);
      }
      return undefined;
    });
}

/** Reports whether a repeat can succeed. */
function isTransient(error: unknown): boolean {
  return isProblem(error) && (error.kind === 'unavailable' || error.kind === 'exhausted');
}

/** The failures of a receiver in a row, over all its leases, counted as the tasks service counts them. */
export interface ReceiverCircuit {
  /** Grows with each failure that is counted, and with a success after failures. */
  count(): bigint;
  /** Returns the number of attempts that may be under way: one while the receiver fails, none once it is to rest. */
  concurrency(): number;
  note(made: MadeAttempt): void;
}

/** A receiver that rested gets one attempt as a trial. */
export function openCircuit({ failures, circuit }: LeasedReceiver): ReceiverCircuit {
  let count = circuit;
  let isFailing = failures > 0;
  let left = Math.max(1, FAILURES_MAX - failures);
  return {
    count: () => count,
    concurrency: () => (left <= 0 ? 0 : isFailing ? 1 : CONCURRENCY),
    note: ({ attempt: { error }, circuit: begun }) => {
      if (error === '') {
        if (isFailing) count += 1n;
        isFailing = false;
        left = FAILURES_MAX;
      } else if (begun >= count) {
        count = begun + 1n;
        isFailing = true;
        left -= 1;
      }
    },
  };
}
