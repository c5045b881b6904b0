import probeHeader from 'probe-image-size/sync.js';
import { firstBytes } from './first-bytes.ts';
import { openPicture } from './pictures.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

/** Enough to pass over the metadata that may stand before a JPEG's size. */
const HEADER_BYTES = 1024 * 1024;
const DECODED_SIDE = 8;
/** Coded as HEVC, which is not decoded here: the header must do. */
const NOT_DECODED: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);
/** What the parser of headers calls the types. */
const CALLED: Readonly<Record<string, string>> = { 'image/heif': 'image/heic' };

/** The size by the header before anything is decoded; then one decoding of the whole picture, which a damaged file does not pass. */
export async function probeImage(job: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  const header = probeHeader(await firstBytes(job.path, HEADER_BYTES));
  if (header === null || calledSo(header.mime) !== calledSo(mediaType)) return { fault: 'broken' };
  const { width, height } = header;
  if (width * height > job.pixelsMax) return { fault: 'too_many_pixels' };
  if (NOT_DECODED.has(mediaType)) return { facts: { family: 'image', mediaType, width, height } };

  const picture = openPicture(job.path, job);
  const decoded = await picture.metadata();
  if ((decoded.pages ?? 1) > 1) return { fault: 'several_frames' };
  // scaled down from every pixel, so that the whole of it is read and little of it held
  await picture.resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill', fastShrinkOnLoad: false }).raw().toBuffer();
  return { facts: { family: 'image', mediaType, width: decoded.width, height: decoded.height } };
}

const calledSo = (mediaType: string): string => CALLED[mediaType] ?? mediaType;
