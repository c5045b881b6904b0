import { bind } from '@reelgate/platform/rpc/service';
import type { Binding } from '@reelgate/platform/rpc/service';
import { OperatorService } from '@reelgate/proto/media/v1/operator_service';
import { verifyBlobs } from '../operations/blobs/verify-blobs.ts';
import type { VerifyDeps } from '../operations/blobs/verify-blobs.ts';

/** The service for operators. */
export function operatorServiceBinding(deps: VerifyDeps): Binding {
  return bind(OperatorService, { verifyBlobs: (request, { signal }) => verifyBlobs(deps, request, signal) });
}
