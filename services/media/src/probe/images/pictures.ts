import sharp from 'sharp';
import type { Sharp } from 'sharp';
import type { RgbPicture } from '@reelgate/picture-decoder/source';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';

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

/** High enough that the result of a generation does not change. */
const QUALITY = 92;
/** A higher effort does not shrink noise. */
const PNG_EFFORT = 3;
/** Half the time of the default effort, for files of the same size. */
const WEBP_EFFORT = 2;

const WRITERS: Readonly<Record<string, (picture: Sharp) => Sharp>> = {
  jpeg: (picture) => picture.jpeg({ quality: QUALITY }),
  png: (picture) => picture.png({ compressionLevel: PNG_EFFORT }),
  webp: (picture) => picture.webp({ quality: QUALITY, alphaQuality: 100, effort: WEBP_EFFORT }),
};

/**
 * Redraws a picture from its pixels, in its own format. The rest of the file is dropped: EXIF, GPS, a colour profile,
 * bytes after its end. The metadata for orientation and colours are dropped too, so the picture is rotated and
 * converted to sRGB.
 */
export async function redrawImage(job: ProbeJob): Promise<ProbeOutcome> {
  const { format } = await openPicture(job.path, job).metadata();
  const write = WRITERS[format];
  if (write === undefined) return { fault: 'unknown_type' };
  const { width, height } = await write(openPicture(job.path, job).autoOrient().toColourspace('srgb')).toFile(job.into);
  return { facts: { family: 'image', mediaType: `image/${format}`, width, height } };
}
