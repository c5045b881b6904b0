import { FORMATS } from './formats.ts';
import type { Family } from './formats.ts';
import type { MediaFacts, VideoFacts } from './media-facts.ts';

/** The use of a reference. */
export type Category = 'image' | 'video' | 'audio' | 'base_video';

export const FAMILY_OF: Readonly<Record<Category, Family>> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  base_video: 'video',
};

interface Range {
  readonly min: number;
  readonly max: number;
}

const SIDE: Range = { min: 256, max: 5760 };
const ASPECT: Range = { min: 0.4, max: 2.5 };
/** The vendor's 2 to 15 s. Its own clips of 15 s have 362 frames, 15.083 s, and are accepted as inputs. */
const SECONDS: Range = { min: 2, max: 15 };
const CLIP_MS_MAX = 15_100;
/** 23.976 is 24000/1001. */
const FRAME_RATE: Range = { min: 23.976, max: 60 };
const FRAME_RATE_TOLERANCE = 0.01;

const BASE_FRAME_RATE = 24;
const BASE_FRAME_RATE_TOLERANCE = 0.05;
const BASE_SIDE_STEP = 32;
const BASE_AREA_MAX = 768 * 1344;
const BASE_FRAMES: Range = { min: 107, max: 362 };
/** An edit list of a valid file can cut a few frames at its beginning. */
const BASE_LENGTH_TOLERANCE_MS = 500;

const MEDIA_TYPES: Readonly<Record<Family, { readonly named: string; readonly types: readonly string[] }>> = {
  image: {
    named: 'an image (JPEG, PNG, WebP, HEIC or HEIF)',
    types: ['image/jpeg', 'image/png', 'image/webp', 'image/heic', 'image/heif'],
  },
  video: { named: 'a video (MP4 or MOV)', types: ['video/mp4', 'video/quicktime'] },
  audio: { named: 'audio (WAV or MP3)', types: ['audio/wav', 'audio/mpeg'] },
};
const VIDEO_CODECS = ['avc', 'hevc'];
const AUDIO_CODECS = ['aac', 'mp3'];

/** A file beyond these limits has false tables. */
const RESULT_SIDE: Range = { min: 1, max: 16_384 };
const RESULT_MS: Range = { min: 1, max: 24 * 3_600_000 };

/** Reports whether a file is a result: a video in a supported container, within the limits of playable videos. */
export function isResult(facts: MediaFacts): facts is VideoFacts {
  return (
    facts.family === 'video' &&
    FORMATS[facts.mediaType]?.family === 'video' &&
    isWithin(RESULT_MS, facts.durationMs) &&
    isWithin(RESULT_SIDE, facts.width) &&
    isWithin(RESULT_SIDE, facts.height)
  );
}

const isWithin = ({ min, max }: Range, value: number): boolean => value >= min && value <= max;

/** Codecs that the parsers decode. */
const DECODED = ['vp8', 'avc'];

/** Reports whether the parsers draw thumbnails of this codec. ffmpeg draws the thumbnails of other codecs. */
export function isDecoded(videoCodec: string): boolean {
  return DECODED.includes(videoCodec);
}

/** The kinds of files that are taken for media of this family, such as `an image (JPEG, PNG)`. */
export function nameTypes(family: Family): string {
  return MEDIA_TYPES[family].named;
}

/** Reports whether a medium has a type that is accepted for this use. */
export function isOfCategory(category: Category, { mediaType }: MediaFacts): boolean {
  return MEDIA_TYPES[FAMILY_OF[category]].types.includes(mediaType);
}

/**
 * Returns the reason why a medium is not allowed in this use, as a predicate after the item's name. Returns undefined
 * if it is allowed.
 */
export function findMediaFault(category: Category, facts: MediaFacts): string | undefined {
  if (!isOfCategory(category, facts))
    return `must be ${nameTypes(FAMILY_OF[category])}; its bytes are ${facts.mediaType}`;
  switch (facts.family) {
    case 'image':
      return findSidesFault(facts) ?? findAspectFault(facts);
    case 'audio':
      return findDurationFault(facts.durationMs);
    case 'video':
      return findCodecsFault(facts) ?? (category === 'base_video' ? findBaseVideoFault(facts) : findClipFault(facts));
  }
}

function findClipFault(facts: VideoFacts): string | undefined {
  return (
    findSidesFault(facts) ??
    findAspectFault(facts) ??
    findDurationFault(facts.durationMs) ??
    findFrameRateFault(facts.frameRate)
  );
}

function findSidesFault({ width, height }: { width: number; height: number }): string | undefined {
  if ([width, height].every((side) => isWithin(SIDE, side))) return undefined;
  const size = `${width}×${height}`;
  return `must have sides from ${SIDE.min} to ${SIDE.max} pixels; it has ${size}`;
}

function findAspectFault({ width, height }: { width: number; height: number }): string | undefined {
  const aspect = width / height;
  if (isWithin(ASPECT, aspect)) return undefined;
  const range = `from ${ASPECT.min} to ${ASPECT.max}`;
  return `must be ${range} times as wide as it is high; it is ${width}×${height}`;
}

function findDurationFault(durationMs: number): string | undefined {
  if (durationMs >= SECONDS.min * 1000 && durationMs <= CLIP_MS_MAX) return undefined;
  return `must last from ${SECONDS.min} to ${SECONDS.max} seconds; it lasts ${formatSeconds(durationMs)}`;
}

function findFrameRateFault(frameRate: number): string | undefined {
  if (frameRate >= FRAME_RATE.min - FRAME_RATE_TOLERANCE && frameRate <= FRAME_RATE.max + FRAME_RATE_TOLERANCE)
    return undefined;
  const range = `from ${FRAME_RATE.min} to ${FRAME_RATE.max}`;
  return `must have ${range} frames per second; it has ${formatDecimal(frameRate)}`;
}

function findCodecsFault({ videoCodec, audioCodec }: VideoFacts): string | undefined {
  if (!VIDEO_CODECS.includes(videoCodec)) return `must be encoded as H.264 or H.265; it is ${videoCodec}`;
  if (audioCodec !== undefined && !AUDIO_CODECS.includes(audioCodec))
    return `must have AAC or MP3 audio; it has ${audioCodec}`;
  return undefined;
}

/** A video must match the 768P output, so that it can be rendered again in 2K. */
function findBaseVideoFault({
  width,
  height,
  durationMs,
  frameRate,
  frames,
  audioCodec,
}: VideoFacts): string | undefined {
  const size = `${width}×${height}`;
  if (width % BASE_SIDE_STEP !== 0 || height % BASE_SIDE_STEP !== 0)
    return `must have sides that are multiples of ${BASE_SIDE_STEP} pixels to be a base video; it has ${size}`;
  if (width * height > BASE_AREA_MAX)
    return `must have at most ${BASE_AREA_MAX} pixels (768P) to be a base video; it has ${size}`;
  if (Math.abs(frameRate - BASE_FRAME_RATE) > BASE_FRAME_RATE_TOLERANCE)
    return `must have ${BASE_FRAME_RATE} frames per second to be a base video; it has ${formatDecimal(frameRate)}`;
  if (!isWithin(BASE_FRAMES, frames)) {
    const range = `from ${BASE_FRAMES.min} to ${BASE_FRAMES.max}`;
    const counted = frames > BASE_FRAMES.max ? 'more' : String(frames);
    return `must have ${range} frames to be a base video; it has ${counted}`;
  }
  // the length is charged
  if (Math.abs(durationMs - (frames / frameRate) * 1000) > BASE_LENGTH_TOLERANCE_MS) {
    const length = `${frames} frames and lasts ${formatSeconds(durationMs)}`;
    return `must last as long as its frames do to be a base video; it has ${length}`;
  }
  if (audioCodec === undefined) return 'must have an audio track to be a base video; it has none';
  return undefined;
}

/** `30 MiB`, `512 KiB`, `20 bytes`. */
export function formatBytes(bytes: number): string {
  if (bytes >= 1024 ** 2) return `${formatDecimal(bytes / 1024 ** 2)} MiB`;
  return bytes >= 1024 ? `${formatDecimal(bytes / 1024)} KiB` : `${bytes} bytes`;
}

const formatDecimal = (value: number): string => String(Math.round(value * 1000) / 1000);
const formatSeconds = (ms: number): string => `${formatDecimal(ms / 1000)} s`;
