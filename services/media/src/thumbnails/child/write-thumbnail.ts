import type { Sharp } from 'sharp';
import type { ProbeOutcome } from '../../probe/probe.ts';

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
