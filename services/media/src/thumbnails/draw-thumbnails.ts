import { isDecoded } from '../domain/media-rules.ts';
import type { VideoFacts } from '../domain/media-facts.ts';
import type { ThumbnailPool } from '../probe/pool/probe-pool.ts';
import type { ProbeOutcome } from '../probe/probe.ts';
import type { FrameExtractor } from './ffmpeg/frame-extractor.ts';

export interface DrawOrder {
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
