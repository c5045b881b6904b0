import type { Sharp } from 'sharp';
import { openPicture } from './pictures.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

/** High enough that no generator sees a difference. */
const QUALITY = 92;
/** Noise does not get smaller by more effort. */
const PNG_EFFORT = 3;
/** Half the time of the default, and files of the same size. */
const WEBP_EFFORT = 2;

const WRITERS: Readonly<Record<string, (picture: Sharp) => Sharp>> = {
  jpeg: (picture) => picture.jpeg({ quality: QUALITY }),
  png: (picture) => picture.png({ compressionLevel: PNG_EFFORT }),
  webp: (picture) => picture.webp({ quality: QUALITY, alphaQuality: 100, effort: WEBP_EFFORT }),
};

/**
 * Draws a picture anew from its pixels, in its own format: what else was in the file (where and by whom it was taken, bytes behind its end,
 * another file within it) stays behind. It is turned as it is meant to be seen, and its colours become sRGB, since what said so goes too.
 */
export async function redrawImage(job: ProbeJob): Promise<ProbeOutcome> {
  const { format } = await openPicture(job.path, job).metadata();
  const write = WRITERS[format];
  if (write === undefined) return { fault: 'unknown_type' };
  const { width, height } = await write(openPicture(job.path, job).autoOrient().toColourspace('srgb')).toFile(job.into);
  return { facts: { family: 'image', mediaType: `image/${format}`, width, height } };
}
