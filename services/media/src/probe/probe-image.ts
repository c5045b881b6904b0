import probeHeader from 'probe-image-size/sync.js';
import sharp from 'sharp';
import { firstBytes } from './first-bytes.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

/** Enough to pass over the metadata that may stand before a JPEG's size. */
const HEADER_BYTES = 1024 * 1024;
const DECODED_SIDE = 8;
/** Coded as HEVC, which is not decoded here: the header must do. */
const NOT_DECODED: ReadonlySet<string> = new Set(['image/heic', 'image/heif']);
/** What the parser of headers calls the types. */
const CALLED: Readonly<Record<string, string>> = { 'image/heif': 'image/heic' };

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'] });
sharp.cache(false);
sharp.concurrency(1);

/** The size by the header before anything is decoded; then one decoding of the whole picture, which a damaged file does not pass. */
export async function probeImage({ path, pixelsMax, timeoutMs }: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  const header = probeHeader(await firstBytes(path, HEADER_BYTES));
  if (header === null || calledSo(header.mime) !== calledSo(mediaType)) return { fault: 'broken' };
  const { width, height } = header;
  if (width * height > pixelsMax) return { fault: 'too_many_pixels' };
  if (NOT_DECODED.has(mediaType)) return { facts: { family: 'image', mediaType, width, height } };

  const picture = sharp(path, { limitInputPixels: pixelsMax, failOn: 'error', pages: -1, sequentialRead: true });
  const decoded = await picture.metadata();
  if ((decoded.pages ?? 1) > 1) return { fault: 'several_frames' };
  // scaled down from every pixel, so that the whole of it is read and little of it held
  await picture.resize(DECODED_SIDE, DECODED_SIDE, { fit: 'fill', fastShrinkOnLoad: false }).timeout({ seconds: Math.ceil(timeoutMs / 1000) }).raw().toBuffer();
  return { facts: { family: 'image', mediaType, width: decoded.width, height: decoded.height } };
}

const calledSo = (mediaType: string): string => CALLED[mediaType] ?? mediaType;
