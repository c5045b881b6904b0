import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck } from '@reelgate/platform/diagnosis/self-checks';
import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import type { MediaConfig } from '../config.ts';
import type { BlobStore } from './blob-store.ts';

/** A check that reports whether the store of the bytes answers. */
export function blobsCheck(blobs: BlobStore, config: MediaConfig['blobs']): SelfCheck {
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
