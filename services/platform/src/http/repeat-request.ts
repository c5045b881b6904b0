import { systemClock } from '../clock.ts';
import type { Sleeper } from '../clock.ts';
import { isUnreachable } from '../unreachable.ts';

/** The waits before each repeat. Each repeat opens a connection of its own, which leads to another replica. */
const REPEAT_AFTER_MS = [25, 100, 400];
/** The connection ended before the answer began. */
const CUT: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/** Reports whether a connection could not be opened, or ended before its answer began. */
function isReplicaGone(error: unknown): boolean {
  return isUnreachable(error) || CUT.has((error as { readonly code?: unknown } | undefined)?.code);
}

export interface RepeatOptions {
  /**
   * Reports whether an error permits a repeated request. By default these are the errors of a replica that is gone,
   * because the request only reads.
   */
  readonly mayRepeat?: (error: unknown) => boolean;
  readonly signal?: AbortSignal;
  readonly clock?: Sleeper;
}

/** Sends a request to one of several replicas, and to another one if the first is gone. */
export async function repeatRequest<T>(
  request: () => Promise<T>,
  { mayRepeat = isReplicaGone, signal, clock = systemClock }: RepeatOptions = {},
): Promise<T> {
  for (const ms of REPEAT_AFTER_MS) {
    try {
      return await request();
    } catch (error) {
      if (!mayRepeat(error) || signal?.aborted === true) throw error;
      await clock.sleep(ms, signal);
    }
  }
  return request();
}
