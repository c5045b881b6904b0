import type { Sharp } from 'sharp';
import { openPicture } from '../images/pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';

/** Draws the thumbnail of a frame that another program decoded into a picture file. */
export async function pictureThumbnail(job: ProbeJob): Promise<ProbeOutcome> {
  return writeThumbnail(openPicture(job.path, job), job.into);
}

const SIDE_MAX = 1280;
const QUALITY = 82;

/** Writes a picture as the JPEG of a thumbnail: no side over 1280 pixels, never enlarged. */
export async function writeThumbnail(picture: Sharp, into: string): Promise<ProbeOutcome> {
  const { width, height } = await picture
    .resize(SIDE_MAX, SIDE_MAX, { fit: 'inside', withoutEnlargement: true })
    .jpeg({ quality: QUALITY })
    .toFile(into);
  return { facts: { family: 'image', mediaType: 'image/jpeg', width, height } };
}
