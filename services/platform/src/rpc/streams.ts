import { Problem, isProblem } from '../problem.ts';
import { watchBounds } from './call-bounds.ts';
import type { CallBounds } from './call-bounds.ts';

/** The maximum number of streams of answers that one process serves over one port. */
const STREAMS_MAX = 10_000;
/** The maximum number for one caller. */
const STREAMS_A_CALLER_MAX = 5000;
/** The longest life of a stream of answers. Connections outlive it: see CONNECTION_GRACE_MS. */
export const STREAM_MS_MAX = 9 * 60_000;
const FULL_RETRY_MS = 5000;
const STREAM_ENDED = new Error('the stream has ended');

/** The streams of answers that a server runs. */
export interface RunningStreams {
  /**
   * Yields the messages of the method. Refuses a stream beyond the limits. Ends with a CallEnded at the bounds of the
   * call, and with a Problem at the longest life of a stream and at the stop of the server. The signal of the method is
   * aborted at every end.
   */
  run<T>(caller: string, bounds: CallBounds, method: (signal: AbortSignal) => AsyncIterable<T>): AsyncGenerator<T>;
  /** Ends all streams, so that their callers resume them at another replica. */
  stop(): void;
}

export function newRunningStreams(streamMsMax = STREAM_MS_MAX): RunningStreams {
  const running = new Set<AbortController>();
  const byCaller = new Map<string, number>();
  const count = (caller: string, change: number): void => {
    const held = (byCaller.get(caller) ?? 0) + change;
    if (held === 0) byCaller.delete(caller);
    else byCaller.set(caller, held);
  };
  return {
    async *run(caller, { deadline, gone, clock }, method) {
      assertRoom(running.size, byCaller.get(caller) ?? 0);
      const ending = new AbortController();
      // A listener, because `AbortSignal.any` would cost each open stream a kilobyte.
      const leave = (): void => ending.abort(gone?.reason);
      if (gone?.aborted === true) leave();
      const watch = watchBounds({ deadline, gone: ending.signal, clock });
      gone?.addEventListener('abort', leave, { once: true });
      const expiry = setTimeout(() => ending.abort(streamExpired()), streamMsMax).unref();
      running.add(ending);
      count(caller, 1);
      try {
        yield* readUntilAborted(method(watch.signal), watch.signal);
      } catch (thrown) {
        throw isProblem(ending.signal.reason) ? ending.signal.reason : thrown;
      } finally {
        clearTimeout(expiry);
        running.delete(ending);
        count(caller, -1);
        gone?.removeEventListener('abort', leave);
        // A caller that stops reading ends the stream within its bounds. This abort notifies the method.
        ending.abort(STREAM_ENDED);
        watch.release();
      }
    },
    stop: () => {
      for (const ending of running) ending.abort(serviceStopping());
    },
  };
}

/**
 * Yields the same messages. Throws the reason of the signal as soon as it is aborted, even while it waits for a
 * message.
 */
export async function* readUntilAborted<T>(messages: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = messages[Symbol.asyncIterator]();
  let interrupt = (): void => undefined;
  const onAbort = (): void => interrupt();
  signal.addEventListener('abort', onAbort, { once: true });
  try {
    for (;;) {
      signal.throwIfAborted();
      const next = await new Promise<IteratorResult<T>>((resolve, reject) => {
        interrupt = () => reject(signal.reason as Error);
        iterator.next().then(resolve, reject);
      });
      if (next.done === true) return;
      yield next.value;
    }
  } finally {
    signal.removeEventListener('abort', onAbort);
    // Not awaited, because a method that is waiting would delay the answer.
    iterator.return?.().then(undefined, () => undefined);
  }
}

function assertRoom(running: number, ofCaller: number): void {
  if (running < STREAMS_MAX && ofCaller < STREAMS_A_CALLER_MAX) return;
  throw new Problem({
    kind: 'exhausted',
    reason: 'too_many_streams',
    message:
      ofCaller < STREAMS_A_CALLER_MAX
        ? `the service has ${STREAMS_MAX} open streams, which is its limit; try again`
        : `this caller has ${STREAMS_A_CALLER_MAX} open streams, which is the limit; close one first`,
    retryAfterMs: FULL_RETRY_MS,
  });
}

function streamExpired(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'stream_expired',
    message:
      `a stream lasts ${STREAM_MS_MAX / 60_000} minutes at most; ` + `call again and go on from the last message`,
  });
}

function serviceStopping(): Problem {
  return new Problem({
    kind: 'unavailable',
    reason: 'service_stopping',
    message: 'this replica of the service stops; call again and go on from the last message',
  });
}
