import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { OperatorService } from '@reelgate/proto/media/v1/operator_service';
import { PAGE_MAX, verifyBlobs } from '../operations/blobs/verify-blobs.ts';
import type { BlobFault, VerifyDeps } from '../operations/blobs/verify-blobs.ts';

/** The service for operators. */
export function operatorServiceBinding(deps: VerifyDeps): Binding {
  return bind(OperatorService, {
    verifyBlobs: async ({ after, limit, sizesOnly }, { signal }) => {
      const {
        checked,
        bytes,
        faults,
        next = '',
      } = await verifyBlobs(deps, { after, sizesOnly, limit: limit === 0 ? PAGE_MAX : limit }, signal);
      return { checked, bytes: BigInt(bytes), faults: faults.map(toWireFault), next };
    },
  });
}

function toWireFault({ blob, fault, foundBytes, claimants }: BlobFault) {
  return {
    sha256: blob.sha256,
    fault,
    bytes: BigInt(blob.bytes),
    foundBytes: BigInt(foundBytes),
    objects: claimants.map(({ id }) => id),
    taskIds: [...new Set(claimants.map(({ taskId }) => taskId))].filter((taskId) => taskId !== ''),
  };
}
