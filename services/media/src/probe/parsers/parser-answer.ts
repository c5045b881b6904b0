import { FORMATS } from '../../domain/formats.ts';
import { PROBE_FAULTS } from '../../domain/media-facts.ts';
import type { MediaFacts, ProbeFault } from '../../domain/media-facts.ts';
import type { ProbeOutcome } from '../probe.ts';

/** The longest side in pixels: the largest number of four bytes. */
const SIDE_MAX = 2 ** 32 - 1;
const FRAME_RATE_MAX = 1e9;
const FRAMES_MAX = 1_000_000;
const CODEC = /^[a-z0-9][a-z0-9.-]{0,31}$/;

type Fields = Readonly<Record<string, unknown>>;

/**
 * Reads the answer of a child process to a job. Returns undefined if the answer is invalid or belongs to another job,
 * because a compromised process can write anything.
 */
export function readParserAnswer(line: string, job: number): ProbeOutcome | undefined {
  const said = parseFields(line);
  if (said?.['job'] !== job) return undefined;
  if (typeof said['fault'] === 'string')
    return Object.hasOwn(PROBE_FAULTS, said['fault']) ? { fault: said['fault'] as ProbeFault } : undefined;
  const facts = isFields(said['facts']) ? toFacts(said['facts']) : undefined;
  return facts === undefined ? undefined : { facts };
}

function parseFields(line: string): Fields | undefined {
  try {
    const said: unknown = JSON.parse(line);
    return isFields(said) ? said : undefined;
  } catch {
    return undefined;
  }
}

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

function toFacts({ family, mediaType, ...facts }: Fields): MediaFacts | undefined {
  if (typeof mediaType !== 'string' || !Object.hasOwn(FORMATS, mediaType) || FORMATS[mediaType]?.family !== family)
    return undefined;
  if (family === 'image') return toImageFacts(mediaType, facts);
  return family === 'video' ? toVideoFacts(mediaType, facts) : toAudioFacts(mediaType, facts);
}

function toImageFacts(mediaType: string, { width, height }: Fields): MediaFacts | undefined {
  return isWhole(width, 1, SIDE_MAX) && isWhole(height, 1, SIDE_MAX)
    ? { family: 'image', mediaType, width, height }
    : undefined;
}

function toVideoFacts(
  mediaType: string,
  { width, height, durationMs, frameRate, frames, videoCodec, audioCodec }: Fields,
): MediaFacts | undefined {
  if (
    !isWhole(width, 0, SIDE_MAX) ||
    !isWhole(height, 0, SIDE_MAX) ||
    !isDuration(durationMs) ||
    !isWhole(frames, 0, FRAMES_MAX)
  )
    return undefined;
  if (typeof frameRate !== 'number' || !(frameRate >= 0 && frameRate <= FRAME_RATE_MAX) || !isCodec(videoCodec))
    return undefined;
  if (audioCodec !== undefined && !isCodec(audioCodec)) return undefined;
  return {
    family: 'video',
    mediaType,
    width,
    height,
    durationMs,
    frameRate,
    frames,
    videoCodec,
    ...(audioCodec === undefined ? {} : { audioCodec }),
  };
}

function toAudioFacts(mediaType: string, { durationMs, codec }: Fields): MediaFacts | undefined {
  return isDuration(durationMs) && isCodec(codec) ? { family: 'audio', mediaType, durationMs, codec } : undefined;
}

const isWhole = (value: unknown, least: number, most: number): value is number =>
  Number.isSafeInteger(value) && (value as number) >= least && (value as number) <= most;
const isDuration = (value: unknown): value is number => isWhole(value, 1, Number.MAX_SAFE_INTEGER);
const isCodec = (value: unknown): value is string => typeof value === 'string' && CODEC.test(value);
