import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import { createHash } from 'node:crypto';
import type { MediaBytes, Reservation, StoredUpload, UploadRequest } from '../../clients/media-bytes.ts';
import type { StreamPermits } from './content-stream-permits.ts';
import { refuse } from '../../refusals.ts';

export interface UploadDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly bytes: MediaBytes;
  readonly uploads: StreamPermits;
}

export interface Upload extends UploadRequest {
  /** Lower-case hexadecimal. Empty if it is not compared. */
  readonly sha256: string;
  readonly pieces: AsyncIterable<Uint8Array>;
}

/** The field at fault, when media refuses an upload before its first byte. */
const FIELDS: Readonly<Record<string, string>> = {
  invalid_media: 'header.declared_type',
  body_too_large: 'header.bytes',
};

/**
 * Stores the bytes of an upload at media as they come. The end of the bytes reaches media only when they were compared
 * with the header, so a refused, broken or cancelled upload is dropped there without a trace.
 */
export async function uploadMedia(deps: UploadDeps, upload: Upload, signal: AbortSignal): Promise<StoredUpload> {
  const giveBack = deps.uploads.take(upload.accountId);
  try {
    const reserved = await reserveUpload(deps, upload);
    try {
      return await storeUpload(deps, upload, reserved, signal);
    } catch (error) {
      await endUpload(deps, reserved);
      throw error;
    }
  } finally {
    giveBack();
  }
}

async function reserveUpload({ bytes }: UploadDeps, upload: UploadRequest): Promise<Reservation> {
  try {
    return await bytes.beginUpload(upload);
  } catch (error) {
    if (!(error instanceof Problem) || FIELDS[error.reason] === undefined) throw error;
    const { kind, reason, message } = error;
    throw new Problem({ kind, reason, message, field: FIELDS[reason], cause: error });
  }
}

async function storeUpload(
  deps: UploadDeps,
  { accountId, ...upload }: Upload,
  { upload: id, bytesMax }: Reservation,
  signal: AbortSignal,
): Promise<StoredUpload> {
  const ended = new AbortController();
  let fault: { readonly error: unknown } | undefined;
  const checked = checkPieces(deps.clock, { ...upload, bytesMax, ended: ended.signal }, (error) => {
    fault = { error };
  });
  const stream = Readable.from(checked, { objectMode: false }).on('error', () => undefined);
  try {
    const stored = await deps.bytes.put(stream, { accountId, upload: id });
    if (!signal.aborted) return stored;
    // no caller learns the object
    await deps.bytes.remove(stored.object);
    throw signal.reason;
  } catch (error) {
    throw fault === undefined ? error : fault.error;
  } finally {
    ended.abort();
    stream.destroy();
  }
}

async function endUpload({ bytes, log }: UploadDeps, { upload }: Reservation): Promise<void> {
  try {
    await bytes.endUpload(upload);
  } catch (error) {
    log.warn({ err: error }, 'the reservation of an upload could not be ended; it expires by itself');
  }
}

/** The longest time without a piece. */
const IDLE_MS_MAX = 30_000;
/** The longest upload. A server of HTTP waits five minutes for the end of a request. */
const UPLOAD_MS_MAX = 4 * 60_000;
const RETRY_MS = 1000;
const MIB = 1024 ** 2;

interface ExpectedPieces {
  readonly pieces: AsyncIterable<Uint8Array>;
  /** Undefined if it is not known. */
  readonly bytes: number | undefined;
  /** Empty if it is not known. */
  readonly sha256: string;
  readonly bytesMax: number;
  /** Aborted when no reader is left. */
  readonly ended: AbortSignal;
}

/** Yields the pieces as they come, and throws before its end if they are not as expected. */
async function* checkPieces(
  clock: Clock,
  expected: ExpectedPieces,
  onFault: (error: unknown) => void,
): AsyncGenerator<Uint8Array> {
  const hash = createHash('sha256');
  const iterator = expected.pieces[Symbol.asyncIterator]();
  const end = clock.now() + UPLOAD_MS_MAX;
  let bytes = 0;
  try {
    for (;;) {
      const waitMs = Math.min(IDLE_MS_MAX, end - clock.now());
      const next = await awaitPiece(clock, waitMs, iterator.next(), expected.ended);
      if (next.done === true) break;
      bytes += next.value.byteLength;
      assertRoom(bytes, expected);
      hash.update(next.value);
      if (next.value.byteLength > 0) yield next.value;
    }
    assertWhole(bytes, hash.digest('hex'), expected);
  } catch (error) {
    onFault(error);
    throw error;
  }
}

/** The next piece, or a refusal when the time is over or no reader is left. */
async function awaitPiece<T>(clock: Clock, ms: number, next: Promise<T>, ended: AbortSignal): Promise<T> {
  const waiting = new AbortController();
  const stop = (): void => waiting.abort();
  ended.addEventListener('abort', stop, { once: true });
  const late = clock.sleep(ms, waiting.signal).then(() => {
    throw tooSlow();
  });
  try {
    return await Promise.race([next, late]);
  } finally {
    ended.removeEventListener('abort', stop);
    stop();
  }
}

function tooSlow(): Problem {
  return refuse('upload_too_slow', {
    message:
      `a piece must come within ${IDLE_MS_MAX / 1000} s, and the last one within ` +
      `${UPLOAD_MS_MAX / 1000} s; send the upload again from its first byte`,
    retryAfterMs: RETRY_MS,
  });
}

function assertRoom(came: number, { bytes, bytesMax }: ExpectedPieces): void {
  if (bytes !== undefined && came > bytes) throw wrong('header.bytes', `is ${bytes}, but more bytes came`);
  if (came <= bytesMax) return;
  throw refuse('body_too_large', {
    field: 'data',
    message: `must be at most ${Math.floor((bytesMax / MIB) * 1000) / 1000} MiB in all for this kind`,
  });
}

function assertWhole(came: number, digest: string, { bytes, sha256 }: ExpectedPieces): void {
  if (came === 0) throw wrong('data', 'is required; send the bytes after the header');
  if (bytes !== undefined && came < bytes) throw wrong('header.bytes', `is ${bytes}, but only ${came} bytes came`);
  if (sha256 !== '' && sha256 !== digest)
    throw wrong('header.sha256', `is ${sha256}, but that of the bytes that came is ${digest}`);
}

function wrong(field: string, message: string): Problem {
  return refuse('invalid_request', { field, message });
}
