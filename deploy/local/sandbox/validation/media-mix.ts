import type { MediaItem, MediaRole } from '../vendor-order.ts';
import { invalidParams } from '../vendor-refusal.ts';

export type Mode = 'text' | 'frames' | 'references';

const mediaMax = 12;
const countsMax: Readonly<Record<MediaRole, number>> = {
  first_frame: 1,
  last_frame: 1,
  reference_image: 9,
  reference_video: 3,
  reference_audio: 3,
  base_video: 1,
};

/** The vendor's mode to which the media belong. Media that fit no mode are refused. */
export function findMode(media: readonly MediaItem[]): Mode {
  const inputs = media.filter((item) => item.role !== 'base_video');
  checkCounts(media);
  if (inputs.length === 0) return 'text';
  const frames = inputs.filter((item) => item.role === 'first_frame' || item.role === 'last_frame');
  if (frames.length === inputs.length) return 'frames';
  if (frames.length > 0) throw invalidParams('first_frame and last_frame cannot stand beside references');
  if (inputs.every((item) => item.form === 'audio'))
    throw invalidParams('reference_audio needs a reference_image or reference_video beside it');
  return 'references';
}

function checkCounts(media: readonly MediaItem[]): void {
  for (const [role, max] of Object.entries(countsMax)) {
    if (media.filter((item) => item.role === role).length > max)
      throw invalidParams(`content must have at most ${max} of role ${role}`);
  }
  if (media.length > mediaMax) throw invalidParams(`content must have at most ${mediaMax} media items`);
}
