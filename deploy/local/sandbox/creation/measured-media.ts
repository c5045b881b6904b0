import type { InputVideoTrack } from 'mediabunny';
import { deadline, type SandboxTime } from '../sandbox-clock.ts';
import { dial } from '../dial.ts';
import { mediaBytesMax, mediaFetchMsMax } from '../limits.ts';
import type { MediaItem } from '../vendor-order.ts';
import type { FrameSize } from '../render/frame-format.ts';

export type MeasuredMedia = {
  readonly seconds: number;
  readonly hasSound: boolean;
  readonly picture: MeasuredPicture | undefined;
};
type MeasuredPicture = FrameSize & { readonly frames: number; readonly framesPerSecond: number };

/**
 * Opens a video or a sound to learn its length and format, which the vendor checks and bills. If that is not possible
 * (an upstream file, an unreachable address, an unknown format), the sandbox goes on without, and so works offline.
 */
export async function measureMedia(item: MediaItem, time: SandboxTime): Promise<MeasuredMedia | undefined> {
  try {
    const bytes = item.url.startsWith('data:')
      ? Buffer.from(item.url.slice(item.url.indexOf(',') + 1), 'base64')
      : await fetchMedia(item, time);
    return await measure(bytes);
  } catch {
    return undefined;
  }
}

async function fetchMedia({ url, form }: MediaItem, { clock, stopped }: SandboxTime): Promise<Buffer> {
  const { signal, release } = deadline(clock, mediaFetchMsMax, stopped);
  try {
    const { status, bytes } = await dial({ method: 'GET', url, bytesMax: mediaBytesMax[form], signal });
    if (status !== 200) throw new Error(`answered ${status}`);
    return bytes;
  } finally {
    release();
  }
}

/** Measures a medium. The parsers load with the first one, because most orders have no media. */
async function measure(bytes: Buffer): Promise<MeasuredMedia> {
  const { ALL_FORMATS, BufferSource, Input } = await import('mediabunny');
  using input = new Input({ source: new BufferSource(bytes), formats: ALL_FORMATS });
  const video = await input.getPrimaryVideoTrack();
  return {
    seconds: await input.computeDuration(),
    hasSound: (await input.getPrimaryAudioTrack()) !== null,
    picture: video === null ? undefined : await measurePicture(video),
  };
}

async function measurePicture(video: InputVideoTrack): Promise<MeasuredPicture> {
  const { packetCount: frames, averagePacketRate: framesPerSecond } = await video.computePacketStats();
  return { width: await video.getDisplayWidth(), height: await video.getDisplayHeight(), frames, framesPerSecond };
}
