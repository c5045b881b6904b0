import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { FetchFault } from '../domain/fetch-fault.ts';
import { TooLarge } from './incoming.ts';
import type { Draft, IncomingFolder } from './incoming.ts';
import type { BlobStore } from './blob-store.ts';
import { refuse } from '../refusals.ts';

/** A full disk or an unreachable bucket does not recover sooner. */
const RETRY_MS = 5000;

/** Separates faults of our disk or bucket from every other error that work on them can throw. */
export interface StorageFaults {
  /** Rethrows refusals and bugs unchanged. Logs every other error and throws a refusal that the caller can retry. */
  readonly guard: <T>(work: () => Promise<T>) => Promise<T>;
}

export function storageFaults(log: Log): StorageFaults {
  return {
    guard: async (work) => {
      try {
        return await work();
      } catch (error) {
        if (error instanceof CallerError) throw error.cause;
        if (isRefusal(error) || isBug(error)) throw error;
        log.error({ err: error }, 'the storage of media cannot be used');
        throw storageUnavailable(error);
      }
    },
  };
}

/** Carries a caller's error through guarded storage. */
class CallerError extends Error {}

/** Runs a caller's work within guarded storage. An error of that work is not a storage fault. */
async function runCallerWork<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new CallerError('', { cause: error });
  }
}

/** Passes on the bytes that a caller sends, and guards them in the same way. */
async function* passCallerBytes(source: AsyncIterable<Uint8Array> | Iterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const piece of source) yield piece;
  } catch (error) {
    throw new CallerError('', { cause: error });
  }
}

/** Nothing was stored, so the client can repeat the create. */
export function storageUnavailable(cause: unknown): Problem {
  return refuse('storage_unavailable', { retryAfterMs: RETRY_MS, cause });
}

const isRefusal = (error: unknown): boolean =>
  error instanceof Problem || error instanceof FetchFault || error instanceof TooLarge;

/** Errors that the language throws, and no system or store. Compared by name: they may come from another realm. */
const BUGS: ReadonlySet<string> = new Set(['TypeError', 'RangeError', 'ReferenceError']);

const isBug = (error: unknown): boolean => BUGS.has((error as Partial<Error> | undefined)?.name ?? '');

/**
 * Wraps a blob store so that its faults become refusals that the caller can retry. Errors of work on a file stay
 * unchanged.
 */
export function guardBlobs(blobs: BlobStore, { guard }: StorageFaults): BlobStore {
  return {
    keep: (key, file) => guard(() => blobs.keep(key, file)),
    has: (key, bytes) => guard(() => blobs.has(key, bytes)),
    findSize: (key) => guard(() => blobs.findSize(key)),
    open: (key, range) => guard(() => blobs.open(key, range)),
    pieces: (key, range) => guard(() => blobs.pieces(key, range)),
    withFile: (key, work) => guard(() => blobs.withFile(key, (path) => runCallerWork(() => work(path)))),
    linkTo: (key, options) => guard(() => blobs.linkTo(key, options)),
    list: (after, limit) => guard(() => blobs.list(after, limit)),
    remove: (key) => guard(() => blobs.remove(key)),
    check: () => blobs.check(),
  };
}

/** Converts faults of our disk into refusals that the caller can retry. Errors of a file's source stay unchanged. */
export function guardIncoming(incoming: IncomingFolder, faults: StorageFaults): IncomingFolder {
  const { guard } = faults;
  return {
    begin: async (bytesMax) => guardDraft(await guard(() => incoming.begin(bytesMax)), faults),
    fill: (write) => guard(() => incoming.fill((path) => runCallerWork(() => write(path)))),
  };
}

function guardDraft(draft: Draft, { guard }: StorageFaults): Draft {
  return {
    get bytes() {
      return draft.bytes;
    },
    append: (source) => guard(() => draft.append(passCallerBytes(source))),
    finish: () => guard(() => draft.finish()),
    discard: () => guard(() => draft.discard()),
  };
}
