import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import type { MediaConfig } from '../config.ts';
import type { BlobStore } from './blob-store.ts';
import { openDiskBlobs } from './disk-blobs.ts';

interface BlobsDeps {
  readonly clock: Clock;
  readonly newId: NewId;
  readonly folder: string;
  readonly scratch: string;
  readonly lifecycle: Lifecycle;
}

/** Opens the folder or the bucket of the configuration. The SDK of a bucket loads only where there is one. */
export async function openBlobs(
  config: MediaConfig['blobs'],
  { folder, lifecycle, ...deps }: BlobsDeps,
): Promise<BlobStore> {
  if (config.kind === 'folder') return openDiskBlobs(folder);
  const { openS3Blobs } = await import('./s3-blobs.ts');
  const bucket = openS3Blobs({ ...config, ...deps });
  lifecycle.add('bucket', async () => {
    bucket.close();
  });
  return bucket;
}
