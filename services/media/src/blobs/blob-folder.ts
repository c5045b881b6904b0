import { readdir } from 'node:fs/promises';
import path from 'node:path';
import type { S3Address, S3Credentials } from './s3-address.ts';

export const FAN_OUT_CHARACTERS = 2;

/** A folder, or a bucket. The path is absolute, and undefined for a folder in the data folder. */
export type BlobsConfig =
  | { readonly kind: 'folder'; readonly path: string | undefined }
  | { readonly kind: 's3'; readonly address: S3Address; readonly credentials: S3Credentials | undefined };

/** The folder of the stored bytes, undefined if they are in a bucket. */
export function blobFolder(blobs: BlobsConfig, dataDir: string): string | undefined {
  if (blobs.kind !== 'folder') return undefined;
  return blobs.path ?? path.join(dataDir, 'blobs');
}

/** Returns the path of a blob in its folder. */
export function blobPath(key: string): string {
  return path.join(key.slice(0, FAN_OUT_CHARACTERS), key);
}

/** Lists the storage keys of the bytes in the folder. The list is empty without a folder. */
export async function* blobKeysIn(folder: string): AsyncGenerator<string> {
  for (const part of await namesIn(folder))
    if (part.length === FAN_OUT_CHARACTERS) yield* await namesIn(path.join(folder, part));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return await readdir(folder);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return [];
    throw error;
  }
}

/** The content that an object claims: its storage key, its bytes and its digest. Other content is garbage. */
export const CLAIMED_CONTENT = `SELECT storage_key, bytes, sha256 FROM blobs
  WHERE EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = blobs.sha256 AND o.removed_at IS NULL)
  ORDER BY storage_key`;
