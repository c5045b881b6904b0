import { Readable } from 'node:stream';
import { TooLarge } from '../../blobs/incoming.ts';
import type { IncomingFolder } from '../../blobs/incoming.ts';
import type { MediaObject } from '../../domain/media-object.ts';
import { formatBytes } from '../../domain/media-rules.ts';
import type { ClaimDeps, KeepFileDeps } from '../blobs/keep-file.ts';
import { claimFile } from '../blobs/keep-file.ts';
import { requireClaimed } from '../media-refusals.ts';
import { keepReserved, reserveBytes, requireReservation } from './reserve-bytes.ts';
import type { ReserveDeps } from './reserve-bytes.ts';
import type { MediaStore } from '../../store/media-store.ts';
import { refuse } from '../../refusals.ts';

export interface ReceiveDeps extends KeepFileDeps, ClaimDeps {
  readonly store: MediaStore;
  readonly incoming: IncomingFolder;
}

export interface PutDeps extends ReceiveDeps, ReserveDeps {
  readonly store: MediaStore;
  readonly inline: ReserveDeps['inline'] & { readonly lifetimeMs: number };
}

export interface PutOptions {
  readonly accountId: string;
  /** The maximum number of bytes in the stream, by default the configured limit of one medium. */
  readonly bytesMax?: number | undefined;
  /** The reservation of `beginUpload`, which limits the bytes too. By default the bytes are reserved here. */
  readonly upload?: string | undefined;
  /** The lifetime of private bytes of another service, undefined for inline bytes of a client. */
  readonly privateMs?: number | undefined;
  /** The name of private bytes, if the caller has chosen it. */
  readonly object?: string | undefined;
}

/** Stores bytes without a probe. Inline bytes are probed when they are staged. Private bytes are never probed. */
export async function putBytes(
  deps: PutDeps,
  source: Readable | Uint8Array,
  options: PutOptions,
): Promise<MediaObject> {
  const known = source instanceof Readable ? options.bytesMax : source.byteLength;
  const bytesMax = Math.min(known ?? Infinity, deps.inline.bytesMax);
  if (options.privateMs !== undefined)
    return put(deps, source, { ...options, bytesMax, purpose: 'private', lifetimeMs: options.privateMs });
  const { id: upload, bytes: reserved } =
    options.upload === undefined
      ? await reserveBytes(deps, options.accountId, bytesMax)
      : await requireReservation(deps, options.accountId, options.upload);
  const received = new AbortController();
  void keepReserved(deps.clock, received.signal, (expiresAt) => deps.store.renewUpload(upload, expiresAt));
  try {
    return await put(deps, source, {
      ...options,
      bytesMax: Math.min(bytesMax, reserved),
      purpose: 'inline',
      lifetimeMs: deps.inline.lifetimeMs,
      upload,
    });
  } catch (error) {
    await deps.store.endUpload(upload).catch(() => {
      // the reservation expires
    });
    throw error;
  } finally {
    received.abort();
  }
}

async function put(deps: ReceiveDeps, source: Readable | Uint8Array, options: ReceiveOptions): Promise<MediaObject> {
  const { object, sha256 } = await receiveBytes(deps, source, options);
  if (object.blob.sha256 !== sha256) throw nameTaken(object.id);
  return object;
}

export interface ReceiveOptions {
  readonly accountId: string;
  readonly bytesMax: number;
  readonly purpose: 'private' | 'inline';
  readonly lifetimeMs: number;
  readonly upload?: string | undefined;
  readonly object?: string | undefined;
}

/**
 * Receives bytes and creates an object for them. If the name `object` is taken, returns the object that has it.
 * `sha256` is the hash of the received bytes.
 */
export async function receiveBytes(
  deps: ReceiveDeps,
  source: Readable | Uint8Array,
  { accountId, object: id, bytesMax, purpose, lifetimeMs, upload }: ReceiveOptions,
): Promise<{ readonly object: MediaObject; readonly sha256: string }> {
  const draft = await deps.incoming.begin(bytesMax);
  try {
    // the caller may still answer on the connection of the stream
    await draft.append(
      source instanceof Readable
        ? (source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>)
        : [source],
    );
    const file = await draft.finish();
    const object = requireClaimed(
      await claimFile(deps, file, {
        accountId,
        taskId: '',
        reference: '',
        facts: undefined,
        purpose,
        lifetimeMs,
        upload,
        id,
      }),
    );
    if (object.accountId !== accountId) throw nameTaken(object.id);
    return { object, sha256: file.sha256 };
  } catch (error) {
    await draft.discard();
    throw error instanceof TooLarge
      ? refuse('body_too_large', { message: `the bytes must be at most ${formatBytes(error.bytesMax)}`, cause: error })
      : error;
  }
}

function nameTaken(id: string): Error {
  return new Error(`the name ${id} was given to other bytes before`);
}
