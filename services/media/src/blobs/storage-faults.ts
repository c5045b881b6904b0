import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { FetchFault } from '../fetch/fetch-fault.ts';
import { TooLarge } from './incoming.ts';

/** A disk is made room on, or a bucket comes back, no sooner. */
const RETRY_MS = 5000;

/** Tells trouble of our disk or bucket from everything else that may come up while they are worked with. */
export interface StorageFaults {
  /** Passes refusals and bugs on as they are; anything else is logged, and refused as one that may be tried again. */
  readonly guard: <T>(work: () => Promise<T>) => Promise<T>;
}

export function storageFaults(log: Log): StorageFaults {
  return {
    guard: async (work) => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof OfOthers) throw error.cause;
        if (isRefusal(error) || isBug(error)) throw error;
        log.error({ err: error }, 'the storage of media cannot be used');
        throw storageUnavailable(error);
      }
    },
  };
}

/** Carries what was thrown by others through storage that works for them. */
class OfOthers extends Error {}

/** Work of others within guarded storage: what it throws is no fault of ours. */
export async function ofOthers<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new OfOthers('', { cause: error });
  }
}

/** The same for what they send. */
export async function* eachOfOthers(
  source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of source) yield piece;
  } catch (error) {
    throw new OfOthers('', { cause: error });
  }
}

/** Nothing was kept: a create that meets it can be sent again. */
export function storageUnavailable(cause: unknown): Problem {
  return new Problem({
    kind: 'unavailable', reason: 'storage_unavailable', retryAfterMs: RETRY_MS, cause,
    message: 'media cannot be stored or read now; try again',
  });
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Problem || error instanceof FetchFault || error instanceof TooLarge;

/** What the language throws, and no system or store. By name: it may come from another realm. */
const BUGS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError']);

const isBug = (error: unknown): boolean => BUGS.has((error as Partial<Error> | undefined)?.name ?? '');
