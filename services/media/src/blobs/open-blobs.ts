import type { Clock } from '@reelgate/platform/clock';
import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import type { NewId } from '@reelgate/platform/ids';
import type { Lifecycle } from '@reelgate/platform/lifecycle/lifecycle';
import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import type { BlobsConfig } from './blob-folder.ts';
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
export async function openBlobs(config: BlobsConfig, { folder, lifecycle, ...deps }: BlobsDeps): Promise<BlobStore> {
  if (config.kind === 'folder') return openDiskBlobs(folder);
  const { openS3Blobs } = await import('./s3-blobs.ts');
  const bucket = openS3Blobs({ ...config, ...deps });
  lifecycle.add('bucket', async () => {
    bucket.close();
  });
  return bucket;
}

/** A check that reports whether the store of the bytes answers. */
export function blobsCheck(blobs: BlobStore, config: BlobsConfig): SelfCheck {
  const where = config.kind === 's3' ? `the bucket ${config.address.bucket}` : 'the folder of the bytes';
  return {
    part: 'bytes',
    check: async () => {
      try {
        await blobs.check();
        return ok(`${where} answers`);
      } catch (error) {
        return {
          grade: 'fail',
          detail: `${where} does not answer: ${describeError(error)}`,
          advice:
            'check the address, the credentials and the rights of media.blobs; results are fetched again afterwards',
        };
      }
    },
  };
}

/** Reports whether the bucket refused the credentials. */
export function isForbidden(error: unknown): boolean {
  const { $metadata: answer } = error as { readonly $metadata?: { readonly httpStatusCode?: number } };
  return answer?.httpStatusCode === 401 || answer?.httpStatusCode === 403;
}
