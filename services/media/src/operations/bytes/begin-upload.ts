import { mayDeclare } from '../../domain/formats.ts';
import type { Family } from '../../domain/formats.ts';
import { FAMILY_OF, formatBytes, nameTypes } from '../../domain/media-rules.ts';
import type { Category } from '../../domain/media-rules.ts';
import type { Upload } from '../../store/media-store.ts';
import { invalidMedia } from '../media-refusals.ts';
import { reserveBytes } from './reserve-bytes.ts';
import type { ReserveDeps } from './reserve-bytes.ts';
import { refuse } from '../../refusals.ts';

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
