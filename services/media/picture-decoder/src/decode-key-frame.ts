import { decodePlanes } from './decode-planes.ts';
import { toRgb } from './picture/colours.ts';
import type { RgbPicture } from './picture/colours.ts';
import { Refusal } from './refusal.ts';
import type { RefusalReason } from './refusal.ts';

export type { RgbPicture } from './picture/colours.ts';

/** The decoded picture, or why there is none. */
export type KeyFrame = { readonly picture: RgbPicture } | { readonly refusal: RefusalReason; readonly detail: string };

/**
 * Decodes one key frame of H.264 into red, green and blue. `packet` is the access unit as its container holds it, and
 * `description` the `avcC` record of its track; without a description the packet has start codes (Annex B).
 *
 * Any bytes are safe: the answer is a picture or a refusal, and the function throws nothing. A call takes time and
 * memory for at most 36,864 macroblocks.
 */
export function decodeKeyFrame(packet: Uint8Array, description: Uint8Array | undefined): KeyFrame {
  try {
    return { picture: toRgb(decodePlanes(packet, description)) };
  } catch (cause) {
    if (cause instanceof Refusal) return { refusal: cause.reason, detail: cause.message };
    throw cause;
  }
}
