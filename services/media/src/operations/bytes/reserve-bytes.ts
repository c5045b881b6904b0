import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import { formatBytes, FAMILY_OF, nameTypes } from '../../domain/media-rules.ts';
import type { Category } from '../../domain/media-rules.ts';
import type { Upload, UploadStore } from '../../store/media-store.ts';
import { refuse } from '../../refusals.ts';
import { mayDeclare } from '../../domain/formats.ts';
import type { Family } from '../../domain/formats.ts';
import { invalidMedia } from '../media-refusals.ts';

/** Running creates of the account release their bytes within seconds. */
const QUOTA_RETRY_MS = 5000;
/** From the reservation to the first byte. An upload that never begins counts against the account for this long. */
const BEGIN_MS = 600_000;
/** While its bytes come, a reservation is this short and renewed. That of a process that is gone ends with it. */
const RECEIVE_MS = 10_000;
const RENEW_MS = 3000;
/** An hour, longer than any upload takes. */
const RENEWALS_MAX = 1200;

interface ReservationDeps {
  readonly store: UploadStore;
  readonly clock: Clock;
}

export interface ReserveDeps extends ReservationDeps {
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
  const upload = { id: newId('up'), accountId, bytes, expiresAt: now + BEGIN_MS };
  if (await store.beginUpload(upload, now, inline.accountBytesMax)) return upload;
  throw refuse('rate_limit_exceeded', {
    retryAfterMs: QUOTA_RETRY_MS,
    message:
      `the uploads of this account and the inline media of its unanswered requests must be at most ` +
      `${formatBytes(inline.accountBytesMax)}; send URLs, or try again when a request is answered or an upload has expired`,
  });
}

/** Keeps a reservation while its bytes come, until the signal is aborted. */
export async function keepReserved(
  clock: Clock,
  received: AbortSignal,
  renew: (expiresAt: number) => Promise<void>,
): Promise<void> {
  for (let renewals = 0; renewals < RENEWALS_MAX && !received.aborted; renewals += 1) {
    // a renewal that fails is harmless: the next one follows in time
    await renew(clock.now() + RECEIVE_MS).catch(() => undefined);
    await clock.sleep(RENEW_MS, received);
  }
}

/** A reservation of this account that has not ended. */
export async function requireReservation(
  { store, clock }: ReservationDeps,
  accountId: string,
  id: string,
): Promise<Upload> {
  const upload = await store.findUpload(id, clock.now());
  if (upload?.accountId === accountId) return upload;
  throw refuse('not_found', { message: 'there is no such upload; begin it again' });
}

export interface BeginUploadDeps extends ReserveDeps {
  readonly bytesMax: Readonly<Record<Category, number>>;
}

export interface UploadOrder {
  readonly accountId: string;
  readonly family: Family;
  /** Empty if the uploader does not declare a type. */
  readonly declaredType: string;
  /** The number of bytes, undefined if it is not known. Then the limit of the family is reserved. */
  readonly bytes: number | undefined;
}

/**
 * Reserves the bytes of an upload before it begins. It refuses a type of another family, more bytes than a medium of
 * the family may have, and bytes for which the account has no room.
 */
export async function beginUpload(
  deps: BeginUploadDeps,
  { accountId, family, declaredType, bytes }: UploadOrder,
): Promise<Upload> {
  if (!mayDeclare(declaredType, family))
    throw invalidMedia(`must be ${nameTypes(family)}; it is declared as ${declaredType}`);
  const bytesMax = computeBytesMax(deps, family);
  if (bytes !== undefined && bytes > bytesMax)
    throw refuse('body_too_large', {
      message: `must be at most ${formatBytes(bytesMax)} for this kind; it is ${formatBytes(bytes)}`,
    });
  return reserveBytes(deps, accountId, bytes ?? bytesMax);
}

/**
 * Takes the larger limit of a video and of a base video, because the video may become one. Staging applies the limit of
 * the role.
 */
function computeBytesMax({ bytesMax, inline }: BeginUploadDeps, family: Family): number {
  const categories = (Object.keys(FAMILY_OF) as Category[]).filter((category) => FAMILY_OF[category] === family);
  return Math.min(inline.bytesMax, Math.max(...categories.map((category) => bytesMax[category])));
}
