import type { BlobStore } from '../../blobs/blob-store.ts';
import type { Clock } from '@reelgate/platform/clock';
import type { MediaStore } from '../../store/media-store.ts';
import { removeBytes } from '../garbage/collect-garbage.ts';

/** Longer than any staging that has begun, including one with a fetch that waits for a permit. */
const ENDED_MS = 3_600_000;

export interface RemoveDeps {
  readonly store: MediaStore;
  readonly blobs: BlobStore;
  readonly clock: Clock;
}

/** Removes the staged media of a refused task. A staging that still runs finds its task ended and stores no object. */
export async function removeStaged(
  deps: RemoveDeps,
  task: { readonly accountId: string; readonly taskId: string },
): Promise<void> {
  const now = deps.clock.now();
  await removeBytes(deps, await deps.store.endStaging(task, now, now + ENDED_MS));
}
