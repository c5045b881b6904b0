import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { endlessMp3 } from '../../../testing/movie-bombs.ts';
import { heavyMp4, mp4 } from '../../../testing/mp4.ts';
import { fixture } from '../../../testing/origin.ts';
import { apng, heic, png, wav } from '../../../testing/pictures.ts';
import { ANY_ACCOUNT, startProbePool } from '../../../testing/probe-pool-under-test.ts';
import type { ProbeOutcome } from '../probe.ts';

const folder = mkdtempSync(path.join(os.tmpdir(), 'media-probe-'));
const TIMEOUT_MS = 5000;
const pool = startProbePool({ workers: 2 });
const patient = startProbePool({ timeoutMs: 2000 });
let files = 0;

afterAll(async () => {
  await pool.stop();
  await patient.stop();
  rmSync(folder, { recursive: true });
});

function probe(bytes: Uint8Array, by = pool): Promise<ProbeOutcome> {
  files += 1;
  const file = path.join(folder, String(files));
  writeFileSync(file, bytes);
  return by.probe(file, ANY_ACCOUNT);
}

describe('the facts', () => {
  const video = {
    family: 'video',
    mediaType: 'video/mp4',
    durationMs: 4458,
    frameRate: 24,
    frames: 107,
    videoCodec: 'avc',
  };

  test.each([
    ['768p.mp4', { ...video, width: 1344, height: 768, audioCodec: 'aac' }],
    ['2k.mp4', { ...video, width: 2560, height: 1440, audioCodec: 'aac' }],
    ['clip.mov', { ...video, mediaType: 'video/quicktime', width: 320, height: 256, durationMs: 500, frames: 12 }],
    [
      'clip.webm',
      {
        ...video,
        mediaType: 'video/webm',
        width: 320,
        height: 256,
        durationMs: 500,
        frames: 12,
        frameRate: 24.016,
        videoCodec: 'vp8',
      },
    ],
    ['image.png', { family: 'image', mediaType: 'image/png', width: 640, height: 360 }],
    ['image.jpg', { family: 'image', mediaType: 'image/jpeg', width: 640, height: 360 }],
    ['image.webp', { family: 'image', mediaType: 'image/webp', width: 300, height: 256 }],
    ['audio.mp3', { family: 'audio', mediaType: 'audio/mpeg', durationMs: 3056, codec: 'mp3' }],
  ])('of %s', async (name, facts) => {
    expect(await probe(fixture(name))).toEqual({ facts });
  });

  test('of generated audio and pictures', async () => {
    expect(await probe(wav(3))).toEqual({
      facts: { family: 'audio', mediaType: 'audio/wav', durationMs: 3000, codec: 'pcm-u8' },
    });
    expect(await probe(heic(640, 480))).toEqual({
      facts: { family: 'image', mediaType: 'image/heic', width: 640, height: 480 },
    });
    expect(await probe(heic(640, 480, 'mif1'))).toEqual({
      facts: { family: 'image', mediaType: 'image/heif', width: 640, height: 480 },
    });
    expect(await probe(mp4())).toEqual({ facts: { ...video, width: 1344, height: 768 } });
  });
});

describe('a lying file', () => {
  test.each([[0], [5], [360_000], [0xffff_ffff]])(
    'with a length of %i in its headers has the length of its samples',
    async (duration) => {
      expect(await probe(mp4({ duration }))).toMatchObject({ facts: { durationMs: 4458 } });
    },
  );

  test.each<[string, Buffer, string]>([
    ['a web page', Buffer.from('<html>hello</html>'), 'unknown_type'],
    ['nothing', Buffer.alloc(0), 'unknown_type'],
    [
      'a vector drawing',
      Buffer.from('<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"/>'),
      'unknown_type',
    ],
    [
      'a GIF',
      Buffer.from('474946383961ffffffff800000000000ffffff2c00000000ffffffff00020244010 03b'.replace(' ', ''), 'hex'),
      'unknown_type',
    ],
    ['a playlist', Buffer.from('#EXTM3U\n#EXT-X-VERSION:3\n#EXTINF:10,\nhttp://127.0.0.1/a.ts\n'), 'unknown_type'],
    ['a document', Buffer.from('%PDF-1.7\n'), 'unknown_type'],
    ['an archive', Buffer.from('504b0304140000000000', 'hex'), 'unknown_type'],
    ['an AVIF', heic(640, 480, 'avif'), 'unknown_type'],
    ['an animated PNG', apng(300, 300), 'unknown_type'],
    ['a truncated picture', fixture('image.png').subarray(0, 20_000), 'broken'],
    ['a truncated photo', fixture('image.jpg').subarray(0, 8000), 'broken'],
    ['a photo without pixels', Buffer.from('ffd8ffe000104a46494600010100000100010000ffd9', 'hex'), 'broken'],
    ['a picture with fewer rows than it claims', png(300, 300, { width: 300, height: 3000 }), 'broken'],
    [
      'a picture of the largest declared size',
      png(1, 1, { width: 0x7fff_ffff, height: 0x7fff_ffff }),
      'too_many_pixels',
    ],
    ['a picture of many pixels in few bytes', png(8000, 6000), 'too_many_pixels'],
    ['an HEIC of many pixels', heic(60_000, 60_000), 'too_many_pixels'],
    ['a truncated video', fixture('768p.mp4').subarray(0, 100_000), 'broken'],
    ['a video whose samples are missing', mp4({ sampleBytes: 4000, dataBytes: 16 }), 'broken'],
    ['a video of no duration', mp4({ delta: 0 }), 'broken'],
    ['a video without a unit of time', mp4({ timescale: 0 }), 'broken'],
    ['only the head of a video', mp4().subarray(0, 100), 'no_video'],
    ['a video with tables of fifty megabytes', mp4({ samples: 13_000_000, eachSize: true, dataBytes: 16 }), 'broken'],
    ['an audio file without samples', wav(0), 'broken'],
  ])('%s', async (_what, bytes, fault) => {
    expect(await probe(bytes)).toEqual({ fault });
  });

  test('an animated WebP', async () => {
    expect(await probe(fixture('animated.webp'))).toEqual({ fault: 'several_frames' });
  });
});

describe('a bomb', () => {
  test('a file that blocks the parser is given up, and the next one is read', async () => {
    await probe(fixture('image.png'), patient);

    expect(await probe(endlessMp3(), patient)).toEqual({ fault: 'overrun' });
    expect(await probe(fixture('image.png'), patient)).toMatchObject({ facts: { mediaType: 'image/png' } });
  });

  test('the limit of a file is processor time, so a busy machine refuses none', async () => {
    const clock = fakeClock();
    const slow = startProbePool({ clock, timeoutMs: TIMEOUT_MS });
    await probe(fixture('image.png'), slow);

    let outcome: ProbeOutcome | undefined;
    const probing = probe(fixture('768p.mp4'), slow).then((answered) => {
      outcome = answered;
    });
    for (let times = 0; times < 3 && outcome === undefined; times += 1) await clock.advance(TIMEOUT_MS);
    await probing;

    expect(outcome).toMatchObject({ facts: { mediaType: 'video/mp4' } });
    await slow.stop();
  });

  test('a file that fills the memory ends only its worker', async () => {
    const small = startProbePool({ heapBytes: 32 * 1024 ** 2 });

    const outcomes = [await probe(heavyMp4(), small), await probe(fixture('image.png'), small)];
    await small.stop();

    expect(outcomes).toEqual([{ fault: 'overrun' }, { facts: expect.objectContaining({ mediaType: 'image/png' }) }]);
  });

  test('a file with any changes gets an answer', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.constantFrom(
          fixture('image.png'),
          fixture('image.jpg'),
          fixture('clip.mov'),
          fixture('clip.webm'),
          mp4(),
          wav(1),
          heic(300, 300),
        ),
        fc.array(fc.tuple(fc.nat(), fc.integer({ min: 0, max: 255 })), { maxLength: 12 }),
        fc.nat(),
        async (bytes, changes, cut) => {
          const changed = Buffer.from(bytes);
          for (const [at, value] of changes) changed[at % changed.byteLength] = value;
          const outcome = await probe(
            changed.subarray(0, cut % 3 === 0 ? cut % changed.byteLength : undefined),
            patient,
          );
          expect('facts' in outcome || 'fault' in outcome).toBe(true);
        },
      ),
      { numRuns: 60 },
    );
  });
});

test('a stopped pool accepts no file', async () => {
  const stopped = startProbePool();
  await stopped.stop();

  await expect(stopped.probe('/nowhere', ANY_ACCOUNT)).rejects.toMatchObject({ reason: 'media_busy' });
});
