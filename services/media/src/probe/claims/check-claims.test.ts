import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { seededIntegers } from '../../../testing/seeded-random.ts';
import { ascii, box, hex, u16, u32 } from '../../../testing/boxes.ts';
import { MP4_BOMBS, AUDIO_BOMBS, WEBM_BOMBS, element, webm } from '../../../testing/movie-bombs.ts';
import { fragmentedMp4, mp4, spinningMp4 } from '../../../testing/mp4.ts';
import type { Mp4Options } from '../../../testing/mp4.ts';
import { fixture } from '../../../testing/origin.ts';
import { wav } from '../../../testing/pictures.ts';
import { claimsFit } from './check-claims.ts';

const MOST = 0xffff_ffff;
/** The processor time for a small file. */
const FAST_MS = 250;
/** The processor time for a file of tens of megabytes with as many parts as fit. */
const SLOW_MS = 4000;
const FUZZED = 100;
/** The rounds of a fixed piece of work, and the processor time of it where the bounds above hold. */
const [PACE_ROUNDS, PACE_MS] = [20_000_000, 60];
const folder = mkdtempSync(path.join(os.tmpdir(), 'media-claims-'));
const file = path.join(folder, 'file');

afterAll(() => {
  rmSync(folder, { recursive: true });
});

function fits(bytes: Buffer, mediaType: string): boolean {
  writeFileSync(file, bytes);
  return claimsFit(file, mediaType);
}

function timed(bytes: Buffer, mediaType: string): { readonly fits: boolean; readonly tookMs: number } {
  writeFileSync(file, bytes);
  const before = process.cpuUsage();
  const fits = claimsFit(file, mediaType);
  const { user, system } = process.cpuUsage(before);
  return { fits, tookMs: (user + system) / 1000 };
}

/** Bounds grow with the time that this machine takes for a fixed piece of work. */
function measureSlowness(): number {
  const before = process.cpuUsage();
  let sum = 0;
  for (let round = 0; round < PACE_ROUNDS; round += 1) sum = (sum * 31 + round) | 0;
  const { user, system } = process.cpuUsage(before);
  expect(Number.isInteger(sum)).toBe(true);
  return Math.max(1, (user + system) / 1000 / PACE_MS);
}
const slowness = measureSlowness();

const tabled = (tables: Mp4Options['tables'] & object, options: Mp4Options = {}): Buffer => mp4({ ...options, tables });
const large = (name: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([u32(1), ascii(name), u32(0, body.byteLength + 16), body]);
};
/** The head of a generated movie: the offsets in its tables stay valid. */
const rebuilt = (change: (head: Buffer, data: Buffer, movie: Buffer) => readonly Buffer[]): Buffer => {
  const bytes = mp4();
  const [dataAt, movieAt] = [bytes.indexOf('mdat') - 4, bytes.indexOf('moov') - 4];
  return Buffer.concat(change(bytes.subarray(0, dataAt), bytes.subarray(dataAt, movieAt), bytes.subarray(movieAt)));
};
const run = (flags: number, count: number, ...parts: readonly Buffer[]): Buffer =>
  box('trun', u32(flags, count), ...parts);
const fragment = (...runs: readonly Buffer[]): Buffer =>
  Buffer.concat([
    box('moof', box('mfhd', u32(0, 1)), box('traf', box('tfhd', u32(0x02_0000, 1)), ...runs)),
    box('mdat', Buffer.alloc(64)),
  ]);
const fragmented = (...parts: readonly Buffer[]): Buffer => Buffer.concat([fragmentedMp4(0, 0), ...parts]);
const index = (offset: number, count = 1): Buffer => {
  const table = box('tfra', u32(0, 1, 0, count, 0, offset), hex('010101'));
  return box('mfra', table, box('mfro', u32(0, table.byteLength + 24)));
};
const HEAD_BYTES = fragmentedMp4(0, 0).byteLength;

const GOOD: readonly (readonly [string, () => Buffer, string])[] = [
  ['a clip of the vendor', () => fixture('768p.mp4'), 'video/mp4'],
  ['a larger one', () => fixture('2k.mp4'), 'video/mp4'],
  ['a clip in another profile', () => fixture('high-422.mp4'), 'video/mp4'],
  ['a QuickTime movie', () => fixture('clip.mov'), 'video/quicktime'],
  ['a WebM', () => fixture('clip.webm'), 'video/webm'],
  ['an MP3', () => fixture('audio.mp3'), 'audio/mpeg'],
  ['a WAV', () => wav(3), 'audio/wav'],
  ['samples of one size', () => mp4(), 'video/mp4'],
  ['samples that are listed one by one', () => mp4({ eachSize: true }), 'video/mp4'],
  ['free boxes anywhere', () => mp4({ inMovie: box('free', Buffer.alloc(99)), after: box('free') }), 'video/mp4'],
  [
    'data in a box of the large form',
    () => rebuilt((head, data, movie) => [head, large('mdat', data.subarray(8)), movie]),
    'video/mp4',
  ],
  [
    'a movie box of the large form',
    () => rebuilt((head, data, movie) => [head, data, large('moov', movie.subarray(8))]),
    'video/mp4',
  ],
  [
    'data up to the end of the file',
    () => rebuilt((head, data, movie) => [head, movie, u32(0), ascii('mdat'), data.subarray(8)]),
    'video/mp4',
  ],
  [
    'bytes of no meaning behind the last box',
    () => Buffer.concat([mp4(), hex('504b0304'), Buffer.alloc(99)]),
    'video/mp4',
  ],
  [
    'a list of boxes that ends with a zero, as in QuickTime',
    () => mp4({ inMovie: box('udta', u32(0)), edits: box('edts', box('elst', u32(0, 1, 107, 0, 0x1_0000)), u32(0)) }),
    'video/quicktime',
  ],
  [
    'QuickTime audio that is counted in decoded samples',
    () => mp4({ handler: 'soun', samples: 20_000, sampleBytes: 1, dataBytes: 1000 }),
    'video/quicktime',
  ],
  [
    'PCM in frames of four bytes',
    () => mp4({ handler: 'soun', samples: 1000, sampleBytes: 4, samplesPerChunk: 1000, dataBytes: 4000 }),
    'video/mp4',
  ],
  [
    'sizes in the compact table',
    () => tabled({ stsz: undefined, stz2: Buffer.concat([u32(0, 8, 107), Buffer.alloc(107, 4)]) }),
    'video/mp4',
  ],
  ['groups of samples of two kinds', () => tabled({ sbgp: u32(0, 0x726f_6c6c, 1, 107, 1) }), 'video/mp4'],
  ['fragments', () => fragmentedMp4(20, 1), 'video/mp4'],
  ['a fragment that gives each size', () => fragmented(fragment(run(0x200, 3, u32(20, 20, 20)))), 'video/mp4'],
  [
    'a fragment that gives durations before sizes',
    () => fragmented(fragment(run(0x300, 2, u32(MOST, 20, MOST, 20)))),
    'video/mp4',
  ],
  ['an index of a fragment', () => fragmented(fragment(run(0x200, 1, u32(20))), index(HEAD_BYTES)), 'video/mp4'],
  ['a segment index', () => mp4({ after: box('sidx', u32(0, 1, 24, 0, 0), u16(0, 2), Buffer.alloc(24)) }), 'video/mp4'],
  [
    'a WAV that was written live',
    () => Buffer.concat([wav(1).subarray(0, 40), u32(MOST), wav(1).subarray(44)]),
    'audio/wav',
  ],
  [
    'a WebM of unknown lengths',
    () =>
      Buffer.concat([
        element('1a45dfa3'),
        hex('18538067 01ffffffffffffff 1f43b675 01ffffffffffffff'),
        element('e7', hex('00')),
        element('a3', hex('81 0000 80 ff')),
        hex('1f43b675 ff'),
        element('e7', hex('01')),
      ]),
    'video/webm',
  ],
  [
    'a block of four frames of a size',
    () => webm(element('1f43b675', element('a3', hex('81 0000 04 03 aabbccdd')))),
    'video/webm',
  ],
  [
    'a block of frames with Xiph lacing',
    () => webm(element('1f43b675', element('a0', element('a1', hex('81 0000 02 02 01 02 aa bbbb cccccc'))))),
    'video/webm',
  ],
  [
    'a block of frames by differences',
    () => webm(element('1f43b675', element('a3', hex('81 0000 06 02 82 c0 aabb ccddee ff')))),
    'video/webm',
  ],
];

const FALSE: readonly (readonly [string, () => Buffer, string])[] = [
  ['689 bytes that kept a parser busy for minutes', spinningMp4, 'video/mp4'],
  ...['stts', 'ctts', 'stsc', 'stco', 'co64', 'stss', 'stsd'].map(
    (name) =>
      [
        `a table ${name} of four thousand million entries`,
        () => tabled({ [name]: u32(0, MOST, 1, 1, 1) }),
        'video/mp4',
      ] as const,
  ),
  [
    'a table elst of four thousand million entries',
    () => mp4({ edits: box('edts', box('elst', u32(0, MOST))) }),
    'video/mp4',
  ],
  [
    'a later table elst that has half of its entries',
    () => mp4({ edits: box('edts', box('elst', u32(0x0100_0000, 2), Buffer.alloc(30))) }),
    'video/mp4',
  ],
  ['a table sbgp of four thousand million entries', () => tabled({ sbgp: u32(0, 1, MOST) }), 'video/mp4'],
  ['sizes that are not listed', () => tabled({ stsz: u32(0, 0, 107) }), 'video/mp4'],
  ['compact sizes that are not listed', () => tabled({ stsz: undefined, stz2: u32(0, 4, MOST) }), 'video/mp4'],
  [
    'compact sizes of an invalid width',
    () => tabled({ stz2: Buffer.concat([u32(0, 0, 1), Buffer.alloc(9)]) }),
    'video/mp4',
  ],
  [
    'samples of one size that are larger than the file',
    () => mp4({ samples: 0x7fff_ffff, sampleBytes: 1, dataBytes: 16 }),
    'video/mp4',
  ],
  [
    'listed samples that are larger than the file',
    () => mp4({ eachSize: true, sampleBytes: 4000, dataBytes: 16 }),
    'video/mp4',
  ],
  [
    'audio of more samples than any audio has',
    () => mp4({ handler: 'soun', samples: 1_000_000, sampleBytes: 1, dataBytes: 16 }),
    'video/quicktime',
  ],
  ['times of more samples than exist', () => tabled({ stts: u32(0, 1, MOST, 1) }), 'video/mp4'],
  ['offsets of more samples than exist', () => tabled({ ctts: u32(0, 2, 107, 1, 1000, 1) }), 'video/mp4'],
  ['chunks of more samples than exist', () => tabled({ stsc: u32(0, 1, 1, 100_000, 1) }), 'video/mp4'],
  ['chunks in descending order', () => tabled({ stsc: u32(0, 2, 5, 1, 1, 2, 1, 1) }), 'video/mp4'],
  [
    'a run of chunks up to an impossible one',
    () => tabled({ stsc: u32(0, 2, 1, 1, 1, 0x7fff_ffff, 1, 1) }),
    'video/mp4',
  ],
  ['sizes in two tables', () => tabled({ stz2: Buffer.concat([u32(0, 8, 1), Buffer.alloc(1)]) }), 'video/mp4'],
  ['a movie in a movie', () => mp4({ inMovie: box('moov') }), 'video/mp4'],
  ['a box that ends behind its parent', () => mp4({ inMovie: Buffer.concat([u32(MOST), ascii('free')]) }), 'video/mp4'],
  ['a truncated movie box', () => mp4().subarray(0, 700), 'video/mp4'],
  ['a fragment of more samples than the file has bytes', () => fragmentedMp4(1, MOST), 'video/mp4'],
  ['a fragment of more samples than bytes', () => fragmented(fragment(run(0x200, 3, u32(1)))), 'video/mp4'],
  ['a fragment that is larger than the file', () => fragmented(fragment(run(0x200, 1, u32(MOST)))), 'video/mp4'],
  ['a fragment of samples of no bytes', () => fragmentedMp4(1, 100, 0), 'video/mp4'],
  ['an index of more fragments than exist', () => fragmented(fragment(), index(HEAD_BYTES, MOST)), 'video/mp4'],
  ['an index with a wrong offset of its fragment', () => fragmented(fragment(), index(64)), 'video/mp4'],
  [
    'a segment index with more entries than bytes',
    () => mp4({ after: box('sidx', u32(0, 1, 24, 0, 0), u16(0, 60_000), Buffer.alloc(24)) }),
    'video/mp4',
  ],
  ['tracks that end behind their segment', () => webm(hex('1654ae6b 7ffe')), 'video/webm'],
  [
    'a block of 256 frames in four bytes',
    () => webm(element('1f43b675', element('a3', hex('81 0000 04 ff aabbccdd')))),
    'video/webm',
  ],
  [
    'a block of frames with Xiph lacing that exceed it',
    () => webm(element('1f43b675', element('a3', hex('81 0000 02 01 fe aabb')))),
    'video/webm',
  ],
  [
    'a block of frames by differences with a negative size',
    () => webm(element('1f43b675', element('a3', hex('81 0000 06 03 81 80 80 aabb')))),
    'video/webm',
  ],
  [
    'a block in a group that ends behind it',
    () => webm(element('1f43b675', element('a0', hex('a1 88 81')))),
    'video/webm',
  ],
  ['a segment in a segment', () => webm(element('18538067')), 'video/webm'],
  [
    'an index of missing clusters',
    () =>
      webm(element('1c53bb6b', element('bb', element('b3', hex('00')), element('b7', element('f1', hex('7fffffff')))))),
    'video/webm',
  ],
  [
    'a WAV of samples of no bytes',
    () => Buffer.concat([wav(1).subarray(0, 32), hex('0000'), wav(1).subarray(34)]),
    'audio/wav',
  ],
  [
    'a WAV with a chunk that ends behind the file',
    () => Buffer.concat([wav(1).subarray(0, 12), ascii('LIST'), u32(MOST), wav(1).subarray(12)]),
    'audio/wav',
  ],
  [
    'an MP3 with a tag that ends behind the file',
    () => Buffer.concat([hex('494433 0300 00 7f7f7f7f'), fixture('audio.mp3')]),
    'audio/mpeg',
  ],
  [
    'an MP3 that claims four thousand million frames in a Xing header',
    () => Buffer.concat([hex('fffb9064'), Buffer.alloc(32), ascii('Xing'), u32(1, MOST), Buffer.alloc(400)]),
    'audio/mpeg',
  ],
  [
    'an MP3 that claims them in a VBRI header',
    () =>
      Buffer.concat([hex('fffb9064'), Buffer.alloc(32), ascii('VBRI'), Buffer.alloc(10), u32(MOST), Buffer.alloc(400)]),
    'audio/mpeg',
  ],
];

test.each(GOOD)('%s makes no false claim', (_what, make, mediaType) => {
  expect(timed(make(), mediaType)).toEqual({ fits: true, tookMs: expect.any(Number) });
});

test.each(FALSE)('%s is recognised as false in milliseconds', (_what, make, mediaType) => {
  const { fits: isTrue, tookMs } = timed(make(), mediaType);

  expect(isTrue).toBe(false);
  expect(tookMs).toBeLessThan(FAST_MS * slowness);
});

test.each([
  ...MP4_BOMBS.map(([what, make]) => [what, make, 'video/mp4'] as const),
  ...WEBM_BOMBS.map(([what, make]) => [what, make, 'video/webm'] as const),
  ...AUDIO_BOMBS.flatMap(
    ([what, make]) =>
      [
        [what, make, 'audio/wav'],
        [what, make, 'audio/mpeg'],
      ] as const,
  ),
])('%s is checked in time', (_what, make, mediaType) => {
  expect(timed(make(), mediaType).tookMs).toBeLessThan(SLOW_MS * slowness);
});

describe('a file with any changes', () => {
  const NUMBERS = [0, 1, 7, 8, 0xff, 0x7fff_ffff, 0x8000_0000, MOST];

  test.each(GOOD)('%s gets a verdict in time', (what, make, mediaType) => {
    const [original, next] = [make(), seededIntegers(what.length)];
    for (let count = 0; count < FUZZED; count += 1) {
      const bytes = Buffer.from(original);
      for (let changes = 1 + next(5); changes > 0; changes -= 1) {
        const at = next(bytes.byteLength - 4);
        if (next(2) === 0) bytes[at] = next(256);
        else bytes.writeUInt32BE(NUMBERS[next(NUMBERS.length)] ?? 0, at);
      }
      const { fits: isTrue, tookMs } = timed(
        next(6) === 0 ? bytes.subarray(0, next(bytes.byteLength)) : bytes,
        mediaType,
      );

      expect(typeof isTrue).toBe('boolean');
      expect(tookMs).toBeLessThan(SLOW_MS * slowness);
    }
  });
});

test('an empty file makes no false claim', () => {
  expect(['video/mp4', 'video/webm', 'audio/wav', 'audio/mpeg'].map((type) => fits(Buffer.alloc(0), type))).toEqual([
    true,
    true,
    true,
    true,
  ]);
});
