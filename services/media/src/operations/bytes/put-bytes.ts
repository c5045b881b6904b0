import { Readable } from 'node:stream';
import type { NewId } from '@reelgate/platform/ids';
import { Problem } from '@reelgate/platform/problem';
import { TooLarge } from '../../blobs/incoming.ts';
import type { Incoming } from '../../blobs/incoming.ts';
import type { MediaObject } from '../../domain/media-object.ts';
import { inBytes } from '../../domain/media-rules.ts';
import type { ClaimDeps } from '../blobs/claim-blob.ts';
import { claimFile } from '../blobs/claim-file.ts';
import type { KeepFileDeps } from '../blobs/keep-file.ts';
import { claimed } from '../media-refusals.ts';

/** Running creates of the account release their bytes within seconds. */
const QUOTA_RETRY_MS = 5000;
/** Longer than any upload takes. An abandoned upload counts against the account for this long. */
const UPLOAD_MS = 600_000;

export interface PutDeps extends KeepFileDeps, ClaimDeps {
  readonly incoming: Incoming;
  readonly newId: NewId;
  readonly inline: { readonly lifetimeMs: number; readonly bytesMax: number; readonly accountBytesMax: number };
}

export interface PutOptions {
  readonly accountId: string;
  /** The stream yields at most this many bytes; absent: the configured limit of one medium. */
  readonly bytesMax?: number | undefined;
  /** Private bytes of another service, and how long they are stored; absent: inline bytes of a client. */
  readonly privateMs?: number | undefined;
  /** The name of private bytes, if the caller has chosen it. */
  readonly object?: string | undefined;
}

/** Stores bytes without a probe. Inline bytes are probed when they are staged; private bytes are never probed. */
export async function putBytes(
  deps: PutDeps,
  source: Readable | Uint8Array,
  options: PutOptions,
): Promise<MediaObject> {
  const known = source instanceof Readable ? options.bytesMax : source.byteLength;
  const bytesMax = Math.min(known ?? Infinity, deps.inline.bytesMax);
  if (options.privateMs !== undefined)
    return receive(deps, source, { ...options, bytesMax, purpose: 'private', lifetimeMs: options.privateMs });
  const upload = await beginUpload(deps, options.accountId, bytesMax);
  try {
    return await receive(deps, source, {
      ...options,
      bytesMax,
      purpose: 'inline',
      lifetimeMs: deps.inline.lifetimeMs,
      upload,
    });
  } catch (error) {
    await deps.store.endUpload(upload).catch(() => {
      // the reservation expires
    });
    throw error;
  }
}

interface Receiving extends PutOptions {
  readonly bytesMax: number;
  readonly purpose: 'private' | 'inline';
  readonly lifetimeMs: number;
  readonly upload?: string | undefined;
}

async function receive(
  deps: PutDeps,
  source: Readable | Uint8Array,
  { accountId, object: id, bytesMax, purpose, lifetimeMs, upload }: Receiving,
): Promise<MediaObject> {
  const draft = await deps.incoming.begin(bytesMax);
  try {
    // the caller may still answer on the connection of the stream
    await draft.append(
      source instanceof Readable
        ? (source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>)
        : [source],
    );
    const file = await draft.finish();
    const object = claimed(
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
    if (object.blob.sha256 !== file.sha256 || object.accountId !== accountId)
      throw new Error(`the name ${object.id} was given to other bytes before`);
    return object;
  } catch (error) {
    await draft.discard();
    throw error instanceof TooLarge
      ? new Problem({
          kind: 'invalid',
          reason: 'body_too_large',
          message: `the bytes must be at most ${inBytes(error.bytesMax)}`,
          cause: error,
        })
      : error;
  }
}

/** Reserves the bytes before the first one is written, so concurrent requests cannot exceed the limit together. */
async function beginUpload(
  { store, clock, inline, newId }: PutDeps,
  accountId: string,
  bytes: number,
): Promise<string> {
  const now = clock.now();
  const upload = { id: newId('up'), accountId, bytes, expiresAt: now + UPLOAD_MS };
  if (await store.beginUpload(upload, now, inline.accountBytesMax)) return upload.id;
  throw new Problem({
    kind: 'exhausted',
    reason: 'rate_limit_exceeded',
    retryAfterMs: QUOTA_RETRY_MS,
    message:
      `the inline media of this account's unanswered requests must be at most ${inBytes(inline.accountBytesMax)}; ` +
      'send URLs, or try again when a request is answered',
  });
}
