import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem, readErrorType } from '@reelgate/platform/problem';
import { inRequest, inTrace } from '@reelgate/platform/request-context';
import type { Tracing } from '@reelgate/platform/trace/trace';
import type { WebhookSender } from '../clients/webhook-sender.ts';
import type { DueDelivery, LeasedReceiver, DeliveryAttempt } from '../clients/webhook-work-client.ts';
import type { HeldLease } from '../operations/leased-pool.ts';
import type { AttemptRecords } from './attempt-records.ts';
import { beginDelivery, deliveryFields, endDelivery } from './delivery-span.ts';
import { makeAttempt, newUnsentAttempt } from './make-attempt.ts';
import { openCircuit } from './receiver-circuit.ts';
import type { BodyBytes } from './event-body.ts';

const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 8000;
const DELIVERED = 'a webhook was delivered';
const NOT_TAKEN = 'a receiver did not take a webhook';

export interface ServeDeps {
  readonly sender: WebhookSender;
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
  const { id: receiverId, lease, deliveries } = receiver;
  const waiting = deliveries.values();
  const circuit = openCircuit(receiver);
  let areWritten = true;
  const mayBegin = (): boolean =>
    held.isHeld() && circuit.concurrency() > 0 && !held.stopping.aborted && clock.now() < beginUntil;
  const record = async (attempts: readonly DeliveryAttempt[], returned: boolean): Promise<void> => {
    if (await records.add({ receiverId, lease, attempts, returned })) return;
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
  state: { readonly mayBegin: () => boolean; readonly count: () => number },
): (delivery: DueDelivery) => Promise<DeliveryAttempt | undefined> {
  const { clock, log } = deps;
  const { receiver, encodeBody, held } = options;
  const attemptOnce = async (
    delivery: DueDelivery,
    isFirst: boolean,
  ): Promise<DeliveryAttempt | 'later' | undefined> => {
    const at = clock.now();
    const circuit = state.count();
    const about = { receiverId: receiver.id, ...deliveryFields(delivery) };
    const span = beginDelivery(deps.tracing, receiver, delivery);
    return inTrace(span.traceId, async () => {
      try {
        const body = await encodeBody(delivery.event, receiver.payload);
        if (!state.mayBegin()) return undefined;
        const made = await makeAttempt(deps, { receiver, delivery, body, circuit, signal: held.cutOff, span });
        endDelivery(span, made);
        log.info(
          { ...about, status: made.status, error: made.error, durationMs: made.durationMs },
          made.error === '' ? DELIVERED : NOT_TAKEN,
        );
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
    inRequest(delivery.origin.requestId, async () => {
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
