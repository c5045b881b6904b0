import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { RgbPicture } from '@reelgate/picture-decoder';
import type { ProbeJob } from './probe.ts';

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({ operation: ['VipsForeignLoadJpeg', 'VipsForeignLoadPng', 'VipsForeignLoadWebp'] });
sharp.cache(false);
sharp.concurrency(1);

/**
 * A file or bytes as a picture, of the few types that are read and within the limits of a job. A JPEG that ends before its rows do, or has
 * fewer than its header says, is only warned of; whoever looks at one for the first time fails on that too.
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

/** The same for pixels that are already decoded. */
export function openPixels({ data, width, height }: RgbPicture, { pixelsMax, timeoutMs }: ProbeJob): Sharp {
  return sharp(data, { raw: { width, height, channels: 3 }, limitInputPixels: pixelsMax }).timeout({
    seconds: Math.ceil(timeoutMs / 1000),
  });
}
