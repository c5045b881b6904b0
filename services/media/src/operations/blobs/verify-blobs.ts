import { createHash } from 'node:crypto';
import { toMessage } from '@reelgate/platform/rpc/whole-message';
import { BlobFaultSchema, VerifyBlobsResponseSchema } from '@reelgate/proto/media/v1/operator_service';
import type { BlobFault, VerifyBlobsRequest, VerifyBlobsResponse } from '@reelgate/proto/media/v1/operator_service';
import type { BlobStore } from '../../blobs/blob-store.ts';
import type { Blob } from '../../domain/media-object.ts';
import type { Claimant, MediaStore } from '../../store/media-store.ts';

const PAGE_MAX = 500;
/** The bytes of one call, so that a call ends in time. The blob that exceeds them is read to its end. */
const PAGE_BYTES_MAX = 512 * 1024 * 1024;
const CLAIMANTS_SHOWN = 20;

export interface VerifyDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
}

interface FoundFault {
  readonly fault: 'missing' | 'size' | 'content';
  readonly foundBytes: number;
}

/**
 * Compares a page of the database with the stored bytes. Unclaimed content is left out: it is garbage, or being stored.
 */
export async function verifyBlobs(
  deps: VerifyDeps,
  { after, limit, sizesOnly }: VerifyBlobsRequest,
  signal: AbortSignal,
): Promise<VerifyBlobsResponse> {
  const most = limit === 0 ? PAGE_MAX : Math.min(limit, PAGE_MAX);
  const page = await deps.store.claimedBlobs(after, most);
  const faults: BlobFault[] = [];
  let checked = 0;
  let bytes = 0;
  for (const blob of page) {
    signal.throwIfAborted();
    const wrong = await findBlobFault(deps.blobs, blob, sizesOnly);
    const claimants = wrong === undefined ? [] : await deps.store.claimants(blob, CLAIMANTS_SHOWN);
    // an object that ended in the meantime is not missing, even if the same content is stored under another key
    if (wrong !== undefined && claimants.length > 0) faults.push(buildFault(blob, wrong, claimants));
    checked += 1;
    bytes += blob.bytes;
    if (!sizesOnly && bytes > PAGE_BYTES_MAX) break;
  }
  const isAll = checked === page.length && page.length < most;
  const next = isAll ? '' : (page[checked - 1]?.key ?? '');
  return toMessage(VerifyBlobsResponseSchema, { checked, bytes: BigInt(bytes), faults, next });
}

function buildFault(
  { sha256, bytes }: Blob,
  { fault, foundBytes }: FoundFault,
  claimants: readonly Claimant[],
): BlobFault {
  return toMessage(BlobFaultSchema, {
    ...{ sha256, fault, bytes: BigInt(bytes), foundBytes: BigInt(foundBytes) },
    objects: claimants.map(({ id }) => id),
    taskIds: [...new Set(claimants.map(({ taskId }) => taskId))].filter((taskId) => taskId !== ''),
  });
}

async function findBlobFault(
  blobs: BlobStore,
  { key, bytes, sha256 }: Blob,
  sizesOnly: boolean,
): Promise<FoundFault | undefined> {
  const foundBytes = await blobs.findSize(key);
  if (foundBytes === undefined) return { fault: 'missing', foundBytes: 0 };
  if (foundBytes !== bytes) return { fault: 'size', foundBytes };
  if (sizesOnly) return undefined;
  const source = await blobs.open(key);
  if (source === undefined) return { fault: 'missing', foundBytes: 0 };
  const hash = createHash('sha256');
  for await (const chunk of source) hash.update(chunk as Uint8Array);
  return hash.digest('hex') === sha256 ? undefined : { fault: 'content', foundBytes };
}
