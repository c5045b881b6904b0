import type { Clock } from '@reelgate/platform/clock';
import { NOT_AWAITED } from '@reelgate/platform/clock';
import { isProblem } from '@reelgate/platform/problem';
import type { ProblemKind } from '@reelgate/platform/problem';
import type { EventFilter, WatchEventsResponse, WebhookEvents } from '../clients/webhooks-client.ts';

const PAUSE_MS_MIN = 200;
const PAUSE_MS_MAX = 5000;
/** The tasks service sends a heartbeat every 15 seconds. A stream that is silent for longer is cut off unnoticed. */
const SILENCE_MS_MAX = 45_000;
/** The refusals that another call would get too. */
const FINAL: ReadonlySet<ProblemKind> = new Set<ProblemKind>([
  'invalid',
  'unauthenticated',
  'forbidden',
  'not_found',
  'gone',
]);
const SILENT = Symbol('silent');

export interface FollowDeps {
  readonly webhooks: WebhookEvents;
  readonly clock: Clock;
}

export interface FollowOptions {
  readonly filter: EventFilter;
  /** The cursor after which the events begin; undefined if they begin now. */
  readonly cursor: string | undefined;
  readonly requestId: string;
  /** Ends the stream of events. */
  readonly over: AbortSignal;
}

/**
 * The events that match, and cursors between them. The tasks service ends each stream after a while; this goes on from
 * the last cursor. It refuses as the first stream is refused, unless its replica stops, and ends when the signal
 * is aborted.
 */
export async function* followEvents(
  { webhooks, clock }: FollowDeps,
  { filter, requestId, over, ...from }: FollowOptions,
): AsyncGenerator<WatchEventsResponse, void> {
  let { cursor } = from;
  let pauseMs = PAUSE_MS_MIN;
  let hasBegun = false;
  while (!over.aborted) {
    const ending = new AbortController();
    const signal = AbortSignal.any([over, ending.signal]);
    try {
      for await (const message of readUntilSilent(
        webhooks.watchEvents({ ...filter, cursor: cursor ?? '' }, { signal, requestId }),
        clock,
      )) {
        hasBegun = true;
        pauseMs = PAUSE_MS_MIN;
        ({ cursor } = message);
        yield message;
      }
    } catch (error) {
      if (over.aborted) return;
      const isMoving = hasBegun || isProblem(error, 'service_stopping');
      if (!isMoving || (isProblem(error) && FINAL.has(error.kind))) throw error;
    } finally {
      ending.abort(NOT_AWAITED);
    }
    await clock.sleep(pauseMs, over);
    pauseMs = Math.min(2 * pauseMs, PAUSE_MS_MAX);
  }
}

/** Yields the same messages. Ends when one does not come in time; the time that the reader takes does not count. */
async function* readUntilSilent<T>(messages: AsyncIterable<T>, clock: Clock): AsyncGenerator<T, void> {
  const iterator = messages[Symbol.asyncIterator]();
  try {
    for (;;) {
      const came = new AbortController();
      const next = await Promise.race([iterator.next(), clock.sleep(SILENCE_MS_MAX, came.signal).then(() => SILENT)]);
      came.abort(NOT_AWAITED);
      if (next === SILENT || typeof next === 'symbol' || next.done === true) return;
      yield next.value;
    }
  } finally {
    // Not awaited: the stream may wait for a message.
    iterator.return?.().then(undefined, () => undefined);
  }
}
