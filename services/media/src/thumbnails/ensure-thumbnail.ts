import type { Log } from '@reelgate/platform/log';
import type { ReceivedFile, IncomingFolder } from '../blobs/incoming.ts';
import type { VideoFacts } from '../domain/media-facts.ts';
import type { MediaObject } from '../domain/media-object.ts';
import type { ProbeOutcome } from '../probe/probe.ts';
import type { ClaimDeps } from '../operations/blobs/claim-blob.ts';
import { claimFile } from '../operations/blobs/claim-blob.ts';
import type { KeepFileDeps } from '../operations/blobs/keep-file.ts';
import type { Thumbnails } from './draw-thumbnails.ts';

export interface ThumbnailDeps extends KeepFileDeps, ClaimDeps {
  readonly log: Log;
  readonly incoming: IncomingFolder;
  readonly thumbnails: Thumbnails;
}

/**
 * Returns the thumbnail of a result, which is drawn first if necessary. Returns undefined if it cannot be drawn. It
 * never rejects.
 */
export async function ensureThumbnail(deps: ThumbnailDeps, result: MediaObject): Promise<MediaObject | undefined> {
  const { taskId, blob } = result;
  const { facts } = blob;
  if (facts?.family !== 'video' || !(await deps.thumbnails.canDraw(facts))) return undefined;
  try {
    return (await deps.store.findPicture('thumbnail', taskId)) ?? (await drawThumbnail(deps, result, facts));
  } catch (error) {
    deps.log.warn({ taskId, err: error }, 'a thumbnail was not drawn');
    return undefined;
  }
}

async function drawThumbnail(
  deps: ThumbnailDeps,
  { accountId, taskId, blob, expiresAt }: MediaObject,
  facts: VideoFacts,
): Promise<MediaObject | undefined> {
  let outcome: ProbeOutcome | undefined;
  const draw = (path: string): Promise<ReceivedFile | undefined> =>
    deps.incoming.fill(async (into) => {
      outcome = await deps.thumbnails.draw(path, into, { accountId, facts });
      return 'facts' in outcome;
    });
  const file = await deps.blobs.withFile(blob.key, draw);
  if (file === undefined || outcome === undefined || !('facts' in outcome)) {
    deps.log.info({ taskId, outcome }, 'a result has no thumbnail');
    return undefined;
  }
  try {
    return await claimFile(deps, file, {
      accountId,
      taskId,
      purpose: 'thumbnail',
      reference: '',
      facts: outcome.facts,
      lifetimeMs: expiresAt - deps.clock.now(),
    });
  } finally {
    await file.discard();
  }
}
