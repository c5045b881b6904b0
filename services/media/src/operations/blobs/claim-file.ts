import type { ReceivedFile } from '../../blobs/incoming.ts';
import type { MediaObject } from '../../domain/media-object.ts';
import { claimBlob } from './claim-blob.ts';
import type { Claim, ClaimDeps } from './claim-blob.ts';
import { dropPin, keepFile } from './keep-file.ts';
import type { KeepFileDeps } from './keep-file.ts';

/** Stores a file and claims it. If the claim fails, the bytes are removed at once. */
export async function claimFile(
  deps: KeepFileDeps & ClaimDeps,
  file: ReceivedFile,
  claim: Omit<Claim, 'blob' | 'pin'>,
): Promise<MediaObject | undefined> {
  const { blob, pin } = await keepFile(deps, file);
  let object: MediaObject | undefined;
  try {
    object = await claimBlob(deps, { ...claim, blob, pin });
    return object;
  } finally {
    if (object?.blob.sha256 !== blob.sha256) await dropPin(deps, pin);
  }
}
