import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { Problem } from '@reelgate/platform/problem';
import { inBytes } from '../../domain/media-rules.ts';
import type { MediaStore, Upload } from '../../store/media-store.ts';

/** Running creates of the account release their bytes within seconds. */
const QUOTA_RETRY_MS = 5000;
/** Longer than any upload takes. An abandoned upload counts against the account for this long. */
const UPLOAD_MS = 600_000;

export interface ReserveDeps {
  readonly store: MediaStore;
  readonly clock: Clock;
  readonly newId: NewId;
  readonly inline: { readonly bytesMax: number; readonly accountBytesMax: number };
}

/** Reserves the bytes before the first one is written, so concurrent requests cannot exceed the limit together. */
export async function reserveBytes(
  { store, clock, inline, newId }: ReserveDeps,
  accountId: string,
  bytes: number,
): Promise<Upload> {
  const now = clock.now();
  const upload = { id: newId('up'), accountId, bytes, expiresAt: now + UPLOAD_MS };
  if (await store.beginUpload(upload, now, inline.accountBytesMax)) return upload;
  throw new Problem({
    kind: 'exhausted',
    reason: 'rate_limit_exceeded',
    retryAfterMs: QUOTA_RETRY_MS,
    message:
      `the uploads of this account and the inline media of its unanswered requests must be at most ` +
      `${inBytes(inline.accountBytesMax)}; send URLs, or try again when a request is answered or an upload has expired`,
  });
}

/** A reservation of this account that has not ended. */
export async function reservedBytes({ store, clock }: ReserveDeps, accountId: string, id: string): Promise<Upload> {
  const upload = await store.findUpload(id, clock.now());
  if (upload?.accountId === accountId) return upload;
  throw new Problem({
    kind: 'not_found',
    reason: 'not_found',
    message: 'there is no such upload; begin it again',
  });
}
