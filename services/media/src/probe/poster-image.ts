import { EncodedPacketSink, Input, MP4, QTFF, WEBM } from 'mediabunny';
import { openBoundedSource } from './bounded-source.ts';
import { openPicture } from './pictures.ts';
import type { ProbeJob, ProbeOutcome } from './probe.ts';

const SIDE_MAX = 1280;
const QUALITY = 82;
const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;

/** A key picture as a file that the picture library reads, by the codec that wrote it. Every other codec is not decoded here. */
const STILLS: Readonly<Record<string, (picture: Uint8Array) => Uint8Array>> = { vp8: webpOf };

/** The first picture of a video as a JPEG, for those codecs that are decoded. */
export async function posterImage(job: ProbeJob): Promise<ProbeOutcome> {
  const { source, close } = await openBoundedSource(job.path);
  const input = new Input({ formats: [MP4, QTFF, WEBM], source });
  try {
    const track = await input.getPrimaryVideoTrack();
    const still = STILLS[(await track?.getCodec()) ?? ''];
    if (track === null || still === undefined) return { fault: 'not_decoded' };
    const first = await new EncodedPacketSink(track).getFirstPacket();
    if (first === null) return { fault: 'no_video' };
    const { width, height } = await openPicture(still(first.data), job).resize(SIDE_MAX, SIDE_MAX, { fit: 'inside', withoutEnlargement: true }).jpeg({ quality: QUALITY }).toFile(job.into);
    return { facts: { family: 'image', mediaType: 'image/jpeg', width, height } };
  } finally {
    input.dispose();
    await close();
  }
}

/** A WebP picture is a key picture of VP8 with a head before it. */
function webpOf(picture: Uint8Array): Uint8Array {
  const padded = picture.byteLength + picture.byteLength % 2;
  const file = Buffer.alloc(RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.byteLength - CHUNK_HEAD_BYTES, 4);
  file.write('WEBPVP8 ', CHUNK_HEAD_BYTES, 'latin1');
  file.writeUInt32LE(picture.byteLength, RIFF_HEAD_BYTES + 4);
  file.set(picture, RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES);
  return file;
}
