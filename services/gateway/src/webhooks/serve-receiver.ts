import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import type { WebhookSender } from '../clients/webhook-sender.ts';
import type { DueDelivery, LeasedReceiver, MadeAttempt } from '../clients/webhook-work-client.ts';
import type { AttemptRecords } from './attempt-records.ts';
import type { HeldLease } from './held-leases.ts';
import { makeAttempt, unsentAttempt } from './make-attempt.ts';
import { openCircuit } from './receiver-circuit.ts';
import type { BodyBytes } from './shared-bodies.ts';

const PAUSE_FIRST_MS = 500;
const PAUSE_MAX_MS = 8000;

export interface ServeDeps {
  readonly sender: WebhookSender;
  readonly records: Pick<AttemptRecords, 'add'>;
  readonly clock: Clock;
  readonly log: Log;
}

export interface ServeOptions {
  readonly receiver: LeasedReceiver;
  readonly held: Pick<HeldLease, 'isHeld' | 'lose'>;
  readonly bodyOf: BodyBytes;
  /** No attempt begins at this time or later. */
  readonly beginUntil: number;
  /** Once aborted, no attempt begins. */
  readonly stopping: AbortSignal;
  /** Cuts the running attempts off. */
  readonly over: AbortSignal;
}

/** Attempts the deliveries of a leased receiver, records the attempts and gives the lease back. */
export async function serveReceiver(deps: ServeDeps, options: ServeOptions): Promise<void> {
  const { records, clock } = deps;
  const { receiver, held, beginUntil, stopping } = options;
  const { id: receiverId, lease, deliveries } = receiver;
  const waiting = deliveries.values();
  const circuit = openCircuit(receiver);
  let areWritten = true;
  const mayBegin = (): boolean =>
    held.isHeld() && circuit.concurrency() > 0 && !stopping.aborted && clock.now() < beginUntil;
  const record = async (attempts: readonly MadeAttempt[], returned: boolean): Promise<void> => {
    if (await records.add({ receiverId, lease, attempts, returned })) return;
    areWritten = false;
    held.lose();
  };
  const attempt = attempter(deps, options, { mayBegin, count: () => circuit.count() });
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

/** Attempts a delivery, again and again while it cannot be sent. Undefined: no attempt may begin any more. */
function attempter(
  { sender, clock, log }: ServeDeps,
  { receiver, bodyOf, stopping, over }: ServeOptions,
  { mayBegin, count }: { readonly mayBegin: () => boolean; readonly count: () => number },
): (delivery: DueDelivery) => Promise<MadeAttempt | undefined> {
  return async (delivery) => {
    for (let pause = PAUSE_FIRST_MS; mayBegin(); pause = Math.min(PAUSE_MAX_MS, 2 * pause)) {
      const at = clock.now();
      const circuit = count();
      try {
        const body = await bodyOf(delivery.event, receiver.payload);
        if (!mayBegin()) return undefined;
        return await makeAttempt({ sender, clock }, { receiver, delivery, body, circuit, signal: over });
      } catch (error) {
        if (over.aborted) return undefined;
        if (pause === PAUSE_FIRST_MS || !isPassing(error))
          log.warn({ receiverId: receiver.id, deliveryId: delivery.id, err: error }, 'a webhook could not be sent');
        if (!isPassing(error)) return unsentAttempt(delivery, { at, circuit });
        await clock.sleep(pause, stopping);
      }
    }
    return undefined;
  };
}

/** Whether a repeat can succeed. */
function isPassing(error: unknown): boolean {
  return isProblem(error) && (error.kind === 'unavailable' || error.kind === 'exhausted');
}
