import type { Log } from '@reelgate/platform/log';
import type { Clock } from '@reelgate/platform/clock';
import { isDecoded } from '../domain/media-rules.ts';
import type { VideoFacts } from '../domain/media-facts.ts';
import type { ThumbnailPool } from '../probe/pool/probe-pool.ts';
import type { ProbeOutcome } from '../probe/probe.ts';
import type { FrameExtractor } from './ffmpeg/frame-extractor.ts';
import type { ReceivedFile, IncomingFolder } from '../blobs/incoming.ts';
import type { MediaObject } from '../domain/media-object.ts';
import { claimFile } from '../operations/blobs/keep-file.ts';
import type { ClaimDeps, KeepFileDeps } from '../operations/blobs/keep-file.ts';

/** Above this number of concurrent ingests, or of results within `CALM_MS`, the ingests need the processor. */
const CALM_MAX = 4;
const CALM_MS = 1000;

interface DrawOrder {
  readonly accountId: string;
  readonly facts: VideoFacts;
}

/** Draws the first frame of a video as a JPEG, into a file of ours. No file can block or crash this process. */
export interface Thumbnails {
  draw(video: string, into: string, order: DrawOrder): Promise<ProbeOutcome>;
  /** Reports whether a thumbnail of such a video can exist here. */
  canDraw(facts: VideoFacts): Promise<boolean>;
}

/**
 * Draws thumbnails. The parsers draw the codecs that they decode. For every other codec, and for kinds of H.264 that
 * their decoder does not support, ffmpeg extracts the frame, and a parser draws it. A thumbnail waits until the search
 * for ffmpeg has ended.
 */
export function drawThumbnails(pool: ThumbnailPool, extractor: Promise<FrameExtractor | undefined>): Thumbnails {
  return {
    canDraw: async (facts) => isDecoded(facts.videoCodec) || (await extractor) !== undefined,
    draw: async (video, into, { accountId, facts }) => {
      if (isDecoded(facts.videoCodec)) {
        const outcome = await pool.thumbnail(video, into, { accountId });
        if (!('fault' in outcome) || outcome.fault !== 'not_decoded') return outcome;
      }
      const ffmpeg = await extractor;
      if (ffmpeg === undefined) return { fault: 'not_decoded' };
      const isExtracted = await ffmpeg.extract(video, into, { accountId, mediaType: facts.mediaType });
      return isExtracted ? pool.pictureThumbnail(into, into, { accountId }) : { fault: 'not_decoded' };
    },
  };
}

interface ThumbnailDeps extends KeepFileDeps, ClaimDeps {
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

/**
 * Ingests results and draws the thumbnail of each afterwards. A result does not wait for its thumbnail. While many
 * results come in, no thumbnail is drawn. The first request for it draws it then.
 */
export function withThumbnails<Order, Result>(
  clock: Clock,
  ingest: (order: Order) => Promise<Result>,
  thumbnailOf: (result: Result) => Promise<unknown>,
): (order: Order) => Promise<Result> {
  let comingIn = 0;
  const isCalm = calmness(clock);
  return async (order) => {
    comingIn += 1;
    try {
      return await ingest(order).then((result) => {
        if (isCalm() && comingIn <= CALM_MAX) thumbnailOf(result).catch(() => undefined);
        return result;
      });
    } finally {
      comingIn -= 1;
    }
  };
}

/** Counts a result, and reports whether few came within the last moment. */
function calmness(clock: Clock): () => boolean {
  const last: number[] = [];
  return () => {
    const now = clock.now();
    const [oldest = -Infinity] = last.length < CALM_MAX ? [] : last;
    last.push(now);
    if (last.length > CALM_MAX) last.shift();
    // also after the clock was set back
    return Math.abs(now - oldest) >= CALM_MS;
  };
}
