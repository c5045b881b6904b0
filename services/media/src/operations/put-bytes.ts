import { Readable } from 'node:stream';
import { Problem } from '@reelgate/platform/problem';
import { TooLarge } from '../blobs/incoming.ts';
import type { Incoming } from '../blobs/incoming.ts';
import type { MediaObject } from '../domain/media-object.ts';
import { inBytes } from '../domain/media-rules.ts';
import { claimBlob } from './claim-blob.ts';
import type { ClaimDeps } from './claim-blob.ts';
import { keepFile } from './keep-file.ts';
import type { KeepFileDeps } from './keep-file.ts';
import { claimed } from './refusals.ts';

const QUOTA_RETRY_MS = 3_600_000;

export interface PutDeps extends KeepFileDeps, ClaimDeps {
  readonly incoming: Incoming;
  readonly inline: { readonly lifetimeMs: number; readonly bytesMax: number; readonly accountBytesMax: number };
}

export interface PutOptions {
  readonly accountId: string;
  /** For the other services alone, and for so long; absent: what a client sent inline. */
  readonly privateMs?: number | undefined;
}

/** Keeps bytes unseen: what a client sent is found out when it is staged, and what is private is nobody's business here. */
export async function putBytes(deps: PutDeps, source: Readable | Uint8Array, { accountId, privateMs }: PutOptions): Promise<MediaObject> {
  if (privateMs === undefined) await assertWithinQuota(deps, accountId);
  const draft = await deps.incoming.begin(deps.inline.bytesMax);
  try {
    // whoever gave the stream may still want to answer on its connection
    await draft.append(source instanceof Readable ? source.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array> : [source]);
    const file = await draft.finish();
    const blob = await keepFile(deps, file);
    const kept = privateMs === undefined ? { purpose: 'inline' as const, lifetimeMs: deps.inline.lifetimeMs } : { purpose: 'private' as const, lifetimeMs: privateMs };
    return claimed(await claimBlob(deps, { accountId, taskId: '', reference: '', blob, facts: undefined, ...kept }));
  } catch (error) {
    await draft.discard();
    throw error instanceof TooLarge
      ? new Problem({ kind: 'invalid', reason: 'body_too_large', message: `at most ${inBytes(error.bytesMax)} can be sent at once`, cause: error })
      : error;
  }
}

/** Requests of one moment can pass it together by what they bring; they cannot pass it twice. */
async function assertWithinQuota({ store, clock, inline }: PutDeps, accountId: string): Promise<void> {
  if ((await store.inlineBytes(accountId, clock.now())) < inline.accountBytesMax) return;
  throw new Problem({
    kind: 'exhausted', reason: 'rate_limit_exceeded', retryAfterMs: QUOTA_RETRY_MS,
    message: `the media that were sent within requests come to ${inBytes(inline.accountBytesMax)}; send addresses instead, or wait until the first of them are forgotten`,
  });
}
