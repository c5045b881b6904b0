import { EncodedPacketSink, Input, MP4, QTFF, WEBM } from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';
import { openBoundedSource } from '../containers/probe-container.ts';
import { openPicture, toSharp } from '../images/pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';
import { writeThumbnail } from './picture-thumbnail.ts';
import { decodeKeyFrame } from '@reelgate/picture-decoder/source';
import type { RgbPicture } from '@reelgate/picture-decoder/source';
import type { ProbeFault } from '../../domain/media-facts.ts';

/** Draws the first frame of a video as a JPEG, if its codec is decoded here. */
export async function videoThumbnail(job: ProbeJob): Promise<ProbeOutcome> {
  const { source, close } = openBoundedSource(job.path);
  const input = new Input({ formats: [MP4, QTFF, WEBM], source });
  try {
    const track = await input.getPrimaryVideoTrack();
    const readKeyFrame = KEY_FRAMES[(await track?.getCodec()) ?? ''];
    if (track === null || readKeyFrame === undefined) return { fault: 'not_decoded' };
    const first = await new EncodedPacketSink(track).getFirstPacket();
    if (first === null) return { fault: 'no_video' };
    const frame = readKeyFrame(first.data, await readDescription(track));
    if ('fault' in frame) return frame;
    const picture = 'file' in frame ? openPicture(frame.file, job) : toSharp(frame.pixels, job);
    return await writeThumbnail(picture, job.into);
  } finally {
    input.dispose();
    close();
  }
}

async function readDescription(track: InputVideoTrack): Promise<Uint8Array | undefined> {
  const config = (await track.getDecoderConfig()) as { readonly description?: ArrayBuffer | ArrayBufferView } | null;
  const description = config?.description;
  if (description === undefined) return undefined;
  return ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description);
}

const RIFF_HEAD_BYTES = 12;
const CHUNK_HEAD_BYTES = 8;

/** A key frame as the picture library takes it: a file that it reads, or pixels. */
type KeyFramePicture = { readonly file: Uint8Array } | { readonly pixels: RgbPicture };

/** Reads the picture of a packet. `description` is the decoder configuration of its track. */
type ReadKeyFrame = (
  packet: Uint8Array,
  description: Uint8Array | undefined,
) => KeyFramePicture | { readonly fault: ProbeFault };

/** The readers by codec. Other codecs are not decoded in this process. `isDecoded` has the same list. */
const KEY_FRAMES: Readonly<Record<string, ReadKeyFrame>> = { vp8: readVp8, avc: readH264 };

function readH264(packet: Uint8Array, description: Uint8Array | undefined): ReturnType<ReadKeyFrame> {
  const decoded = decodeKeyFrame(packet, description);
  if ('picture' in decoded) return { pixels: decoded.picture };
  return { fault: decoded.refusal === 'corrupt' ? 'broken' : 'not_decoded' };
}

/** Wraps a key frame of VP8 in the header of a WebP picture. */
function readVp8(frame: Uint8Array): ReturnType<ReadKeyFrame> {
  const padded = frame.byteLength + (frame.byteLength % 2);
  const file = Buffer.alloc(RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES + padded);
  file.write('RIFF', 0, 'latin1');
  file.writeUInt32LE(file.byteLength - CHUNK_HEAD_BYTES, 4);
  file.write('WEBPVP8 ', CHUNK_HEAD_BYTES, 'latin1');
  file.writeUInt32LE(frame.byteLength, RIFF_HEAD_BYTES + 4);
  file.set(frame, RIFF_HEAD_BYTES + CHUNK_HEAD_BYTES);
  return { file };
}
