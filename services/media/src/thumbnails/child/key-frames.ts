import type { RgbPicture } from '@reelgate/picture-decoder';
import { decodeKeyFrame } from '@reelgate/picture-decoder';

const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;

/** A key picture that the picture library can take: a file that it reads, or colours. Nothing when it cannot be decoded. */
export type Still = Uint8Array | RgbPicture | undefined;

/** Makes one of a packet; `description` is the decoder configuration of its track. */
export type StillOf = (packet: Uint8Array, description: Uint8Array | undefined) => Still;

/** By the codec that wrote the packet. Every other codec is not decoded here. */
export const STILLS: Readonly<Record<string, StillOf>> = { vp8: webpOf, avc: coloursOf };

function coloursOf(packet: Uint8Array, description: Uint8Array | undefined): Still {
  const decoded = decodeKeyFrame(packet, description);
  return 'picture' in decoded ? decoded.picture : undefined;
}

/** A WebP picture is a key picture of VP8 with a head before it. */
function webpOf(picture: Uint8Array): Still {
  const padded = picture.byteLength + (picture.byteLength % 2);
  const file = Buffer.alloc(RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.byteLength - CHUNK_HEAD_BYTES, 4);
  file.write('WEBPVP8 ', CHUNK_HEAD_BYTES, 'latin1');
  file.writeUInt32LE(picture.byteLength, RIFF_HEAD_BYTES + 4);
  file.set(picture, RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES);
  return file;
}
