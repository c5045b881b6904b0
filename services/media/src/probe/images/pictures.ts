import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { RgbPicture } from '@reelgate/picture-decoder/source';
import type { ProbeJob } from '../probe.ts';

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'] });
sharp.cache(false);
sharp.concurrency(1);

/**
 * Opens a file or bytes as a picture, within the limits of a job. Only three formats are read. The decoder only warns
 * of a JPEG with missing rows, so the probe fails on warnings too.
 */
export function openPicture(
  source: string | Uint8Array,
  { pixelsMax, timeoutMs }: ProbeJob,
  failOn: 'error' | 'warning' = 'error',
): Sharp {
  return sharp(source, { limitInputPixels: pixelsMax, failOn, pages: -1, sequentialRead: true }).timeout({
    seconds: Math.ceil(timeoutMs / 1000),
  });
}

/** Converts pixels that are already decoded into a picture under the same limits. */
export function toSharp({ data, width, height }: RgbPicture, { pixelsMax, timeoutMs }: ProbeJob): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 }, limitInputPixels: pixelsMax }).timeout({
    seconds: Math.ceil(timeoutMs / 1000),
  });
}
