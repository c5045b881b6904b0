import { EncodedPacketSink, Input, MP4, QTFF, WEBM } from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';
import { openBoundedSource } from '../containers/bounded-source.ts';
import { openPicture, toSharp } from '../images/pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';
import { KEY_FRAMES } from './key-frames.ts';
import { writeThumbnail } from './picture-thumbnail.ts';

/** Draws the first frame of a video as a JPEG, if its codec is decoded here. */
export async function videoThumbnail(job: ProbeJob): Promise<ProbeOutcome> {
  const { source, close } = openBoundedSource(job.path);
  const input = new Input({ formats: [MP4, QTFF, WEBM], source });
  try {
    const track = await input.getPrimaryVideoTrack();
    const openKeyFrame = KEY_FRAMES[(await track?.getCodec()) ?? ''];
    if (track === null || openKeyFrame === undefined) return { fault: 'not_decoded' };
    const first = await new EncodedPacketSink(track).getFirstPacket();
    if (first === null) return { fault: 'no_video' };
    const frame = openKeyFrame(first.data, await readDescription(track));
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
