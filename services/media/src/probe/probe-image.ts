import probeHeader from 'probe-image-size/sync.js';
import type { ProbeFault } from '../domain/media-facts.ts';
import { firstBytes } from './first-bytes.ts';
import { faultOfJpeg } from './jpeg-scans.ts';
import { openPicture } from './pictures.ts';
import { faultOfPng } from './png-chunks.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

/** Where the size stands in nearly every picture; and where it may stand behind the depth maps and previews that cameras write first. */
const HEADER_BYTES = [64 * 1024, 32 * 1024 * 1024];
/** Of one side: what is longer and still has few pixels is a line, at which the decoders stumble. */
const SIDE_MAX = 16_383;
const DECODED_SIDE = 8;
/** Coded as HEVC, which is not decoded here: the header must do. */
const NOT_DECODED: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);
/** What the decoders would take upon themselves without a word, in calls that cannot be ended. */
const LOOKS: Readonly<Record<string, (path: string) => ProbeFault | undefined>> = {
  'image/jpeg': faultOfJpeg,
  'image/png': faultOfPng,
};
/** What the parser of headers calls the types. */
const CALLED: Readonly<Record<string, string>> = { 'image/heif': 'image/heic' };

/** The size by the header before anything is decoded; then one decoding of the whole picture, which a damaged file does not pass. */
export async function probeImage(job: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  const header = readHeader(job.path);
  if (header === undefined || calledSo(header.mime) !== calledSo(mediaType)) return { fault: 'broken' };
  const { width, height } = header;
  if (width * height > job.pixelsMax || Math.max(width, height) > SIDE_MAX) return { fault: 'too_many_pixels' };
  if (NOT_DECODED.has(mediaType)) return { facts: { family: 'image', mediaType, width, height } };
  const fault = LOOKS[mediaType]?.(job.path);
  if (fault !== undefined) return { fault };

  const picture = openPicture(job.path, job, mediaType === 'image/jpeg' ? 'warning' : 'error');
  const decoded = await picture.metadata();
  if ((decoded.pages ?? 1) > 1) return { fault: 'several_frames' };
  // scaled down from every pixel, so that the whole of it is read and little of it held
  await picture.resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
  return { facts: { family: 'image', mediaType, width: decoded.width, height: decoded.height } };
}

function readHeader(path: string): { width: number; height: number; mime: string } | undefined {
  for (const count of HEADER_BYTES) {
    const header = probeHeader(firstBytes(path, count));
    if (header !== null) return header;
  }
  return undefined;
}

const calledSo = (mediaType: string): string => CALLED[mediaType] ?? mediaType;
