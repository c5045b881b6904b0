import { EncodedPacketSink, Input, MP4, QTFF, WEBM } from 'mediabunny';
import type { InputVideoTrack } from 'mediabunny';
import { openBoundedSource } from '../../probe/bounded-source.ts';
import { openColours, openPicture } from '../../probe/pictures.ts';
import type { ProbeJob, ProbeOutcome } from '../../probe/probe.ts';
import { STILLS } from './key-frames.ts';

const SIDE_MAX = 1280;
const QUALITY = 82;

/** The first picture of a video as a JPEG, for those codecs that are decoded. */
export async function videoThumbnail(job: ProbeJob): Promise<ProbeOutcome> {
  const { source, close } = openBoundedSource(job.path);
  const input = new Input({ formats: [MP4, QTFF, WEBM], source });
  try {
    const track = await input.getPrimaryVideoTrack();
    const stillOf = STILLS[(await track?.getCodec()) ?? ''];
    if (track === null || stillOf === undefined) return { fault: 'not_decoded' };
    const first = await new EncodedPacketSink(track).getFirstPacket();
    if (first === null) return { fault: 'no_video' };
    const still = stillOf(first.data, await descriptionOf(track));
    if (still === undefined) return { fault: 'not_decoded' };
    const picture = still instanceof Uint8Array ? openPicture(still, job) : openColours(still, job);
    const { width, height } = await picture
      .resize(SIDE_MAX, SIDE_MAX, { fit: 'inside', withoutEnlargement: true })
      .jpeg({ quality: QUALITY })
      .toFile(job.into);
    return { facts: { family: 'image', mediaType: 'image/jpeg', width, height } };
  } finally {
    input.dispose();
    close();
  }
}

async function descriptionOf(track: InputVideoTrack): Promise<Uint8Array | undefined> {
  const config = (await track.getDecoderConfig()) as { readonly description?: ArrayBuffer | ArrayBufferView } | null;
  const description = config?.description;
  if (description === undefined) return undefined;
  return ArrayBuffer.isView(description)
    ? new Uint8Array(description.buffer, description.byteOffset, description.byteLength)
    : new Uint8Array(description);
}
