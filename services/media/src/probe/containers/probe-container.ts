import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { EncodedPacketSink, Input, MP3, MP4, QTFF, WAVE, WEBM, CustomSource } from 'mediabunny';
import type { InputFormat, InputVideoTrack } from 'mediabunny';
import type { ProbeJob, ProbeOutcome } from '../probe.ts';
import { MOVIE_BYTES_MAX } from '../claims/movie-claims.ts';

const TRACKS_MAX = 8;
/** Far above the 362 frames of the longest base video. */
const FRAMES_COUNTED = 1000;

/** Formats of a single file. A playlist would lead to other files. */
const VIDEO: readonly InputFormat[] = [MP4, QTFF, WEBM];
const AUDIO_FORMATS: readonly InputFormat[] = [MP3, WAVE];

export async function probeVideo({ path }: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  return withInput(path, VIDEO, async (input) => {
    const track = await input.getPrimaryVideoTrack();
    const videoCodec = (await track?.getCodec()) ?? null;
    if (track === null || videoCodec === null) return { fault: 'no_video' };
    const end = await track.computeDuration();
    const durationMs = milliseconds(end);
    if (durationMs === undefined || !(await isWhole(track, end))) return { fault: 'broken' };
    const audio = await input.getPrimaryAudioTrack();
    const audioCodec = audio === null ? undefined : ((await audio.getCodec()) ?? 'unknown');
    const { averagePacketRate, packetCount } = await track.computePacketStats(FRAMES_COUNTED);
    return {
      facts: {
        family: 'video',
        mediaType,
        durationMs,
        videoCodec,
        ...(audioCodec === undefined ? {} : { audioCodec }),
        ...(await readSize(track)),
        frameRate: Math.round(averagePacketRate * 1000) / 1000,
        frames: packetCount,
      },
    };
  });
}

export async function probeAudio({ path }: ProbeJob, mediaType: string): Promise<ProbeOutcome> {
  return withInput(path, AUDIO_FORMATS, async (input) => {
    const track = await input.getPrimaryAudioTrack();
    const codec = (await track?.getCodec()) ?? null;
    if (track === null || codec === null) return { fault: 'no_audio' };
    const durationMs = milliseconds(await track.computeDuration());
    return durationMs === undefined
      ? { fault: 'broken' }
      : { facts: { family: 'audio', mediaType, durationMs, codec } };
  });
}

async function withInput(
  path: string,
  formats: readonly InputFormat[],
  read: (input: Input) => Promise<ProbeOutcome>,
): Promise<ProbeOutcome> {
  const { source, close } = openBoundedSource(path);
  const input = new Input({ formats: [...formats], source });
  try {
    return (await input.getTracks()).length > TRACKS_MAX ? { fault: 'broken' } : await read(input);
  } finally {
    input.dispose();
    close();
  }
}

/** The tables can name frames that are not in the file, so the first and the last frame must be there. */
async function isWhole(track: InputVideoTrack, end: number): Promise<boolean> {
  const packets = new EncodedPacketSink(track);
  const ends = [await packets.getFirstPacket(), await packets.getPacket(end)];
  return ends.every((packet) => packet !== null && packet.data.byteLength > 0);
}

async function readSize(track: InputVideoTrack): Promise<{ width: number; height: number }> {
  return { width: await track.getDisplayWidth(), height: await track.getDisplayHeight() };
}

/** Returns undefined if the length is zero, infinite or not a number. */
function milliseconds(seconds: number): number | undefined {
  const ms = Math.round(seconds * 1000);
  return Number.isSafeInteger(ms) && ms > 0 ? ms : undefined;
}

/** The movie box is read in one piece, with some bytes around it. No single frame is larger. */
const AROUND_BYTES = 512 * 1024;
const CACHE_BYTES = 8 * 1024 * 1024;

interface BoundedSource {
  readonly source: CustomSource;
  readonly close: () => void;
}

/**
 * Reads one file and no other. One read is at most as large as the largest movie box, which bounds the memory that a
 * parser holds outside its heap.
 */
export function openBoundedSource(path: string): BoundedSource {
  const descriptor = openSync(path, 'r');
  const source = new CustomSource({
    getSize: () => fstatSync(descriptor).size,
    read: (start, end) => {
      if (end - start > MOVIE_BYTES_MAX + AROUND_BYTES) throw new Error('a read exceeds the limit of one piece');
      const bytes = new Uint8Array(end - start);
      readSync(descriptor, bytes, 0, bytes.byteLength, start);
      return bytes;
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => undefined,
  });
  return {
    source,
    close: () => closeSync(descriptor),
  };
}
