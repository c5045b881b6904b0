import probeHeader from 'probe-image-size/sync.js';
import type { ProbeFault } from '../../domain/media-facts.ts';
import { firstBytes } from '../first-bytes.ts';
import { findJpegFault } from './picture-faults.ts';
import { openPicture } from './pictures.ts';
import { findPngFault } from './picture-faults.ts';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';

/**
 * The size is in the first bytes of nearly every picture, or behind the depth maps and previews that cameras write
 * first.
 */
const HEADER_BYTES = [64 * 1024, 32 * 1024 * 1024];
/** The longest side. Decoders fail on longer pictures, even if they have few pixels. */
const SIDE_MAX = 16_383;
const DECODED_SIDE = 8;
/** These are encoded as HEVC, which is not decoded here: only the header is read. */
const NOT_DECODED: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);
/** Checks before decoding, because a decoder's call cannot be interrupted. */
const CHECKS: Readonly<Record<string, (path: string) => ProbeFault | undefined>> = {
  'image/jpeg': findJpegFault,
  'image/png': findPngFault,
};
/** The names of types in the header parser. */
const HEADER_TYPES: Readonly<Record<string, string>> = { 'image/heif': 'image/heic' };

/** Reads the size from the header, then decodes the whole picture once. A damaged file fails there. */
export async function probeImage(job: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  const header = readHeader(job.path);
  if (header === undefined || headerType(header.mime) !== headerType(mediaType)) return { fault: 'broken' };
  const { width, height } = header;
  if (width * height > job.pixelsMax || Math.max(width, height) > SIDE_MAX) return { fault: 'too_many_pixels' };
  if (NOT_DECODED.has(mediaType)) return { facts: { family: 'image', mediaType, width, height } };
  const fault = CHECKS[mediaType]?.(job.path);
  if (fault !== undefined) return { fault };

  const picture = openPicture(job.path, job, mediaType === 'image/jpeg' ? 'warning' : 'error');
  const decoded = await picture.metadata();
  if ((decoded.pages ?? 1) > 1) return { fault: 'several_frames' };
  // scaled down from every pixel: it decodes everything and holds little memory
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

const headerType = (mediaType: string): string => HEADER_TYPES[mediaType] ?? mediaType;
