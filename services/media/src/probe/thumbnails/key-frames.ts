import type { RgbPicture } from '@reelgate/picture-decoder/source';
import { decodeKeyFrame } from '@reelgate/picture-decoder/source';
import type { ProbeFault } from '../../domain/media-facts.ts';

const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;

/** A key frame as the picture library takes it: a file that it reads, or pixels. */
export type KeyFramePicture = { readonly file: Uint8Array } | { readonly pixels: RgbPicture };

/** Makes a picture of a packet; `description` is the decoder configuration of its track. */
export type OpenKeyFrame = (
  packet: Uint8Array,
  description: Uint8Array | undefined,
) => KeyFramePicture | { readonly fault: ProbeFault };

/** By codec. The other codecs are not decoded in this process; `isDecoded` has the same list. */
export const KEY_FRAMES: Readonly<Record<string, OpenKeyFrame>> = { vp8: openVp8, avc: openH264 };

function openH264(packet: Uint8Array, description: Uint8Array | undefined): ReturnType<OpenKeyFrame> {
  const decoded = decodeKeyFrame(packet, description);
  if ('picture' in decoded) return { pixels: decoded.picture };
  return { fault: decoded.refusal === 'corrupt' ? 'broken' : 'not_decoded' };
}

/** A WebP picture is a key frame of VP8 behind a header. */
function openVp8(frame: Uint8Array): ReturnType<OpenKeyFrame> {
  const padded = frame.byteLength + (frame.byteLength % 2);
  const file = Buffer.alloc(RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.byteLength - CHUNK_HEAD_BYTES, 4);
  file.write('WEBPVP8 ', CHUNK_HEAD_BYTES, 'latin1');
  file.writeUInt32LE(frame.byteLength, RIFF_HEAD_BYTES + 4);
  file.set(frame, RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES);
  return { file };
}
