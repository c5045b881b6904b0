import { Readable } from 'node:stream';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { Problem } from '@reelgate/platform/problem';
import type { MediaBytes, Reservation, StoredUpload, UploadRequest } from '../../clients/media-bytes.ts';
import type { StreamPermits } from '../content/content-stream-permits.ts';
import { checkPieces } from './check-pieces.ts';

export interface UploadDeps {
  readonly clock: Clock;
  readonly log: Log;
  readonly bytes: MediaBytes;
  readonly uploads: StreamPermits;
}

export interface Upload extends UploadRequest {
  /** Lower-case hexadecimal; empty: not compared. */
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
 * with the header, so a refused, broken or cancelled upload is dropped there and leaves nothing.
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
