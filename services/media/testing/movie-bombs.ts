import { ascii, box, hex, u16, u32 } from './boxes.ts';
import { fragmentedMp4, mp4, spinningMp4 } from './mp4.ts';
import { fixture } from './origin.ts';
import { wav } from './pictures.ts';

const MIB = 1024 ** 2;
const NOTHING = Buffer.alloc(0);
const MOST = 0xffff_ffff;
const WAV = wav(3);
const MP3 = fixture('audio.mp3');

/** The outcome of a file: a fault, or the family as which it is accepted. */
export type Verdict = string | Readonly<Record<string, unknown>>;
type Row = readonly [string, () => Buffer, Verdict];

const table = (name: string, bytes: Buffer): Buffer => mp4({ tables: { [name]: bytes } });
const claiming = (name: string): Buffer => {
  const bytes = mp4();
  bytes.writeUInt32BE(MOST, bytes.indexOf(name) + 8);
  return bytes;
};
const many = (count: number, part: Buffer): Buffer => Buffer.alloc(count * part.byteLength, part);
const inOneAnother = (count: number, first: string, others: string): Buffer => {
  const bytes = many(count, Buffer.concat([u32(0), ascii(others)]));
  bytes.write(first, 4, 'latin1');
  for (let depth = 0; depth < count; depth += 1) bytes.writeUInt32BE(8 * (count - depth), 8 * depth);
  return Buffer.concat([box('ftyp', ascii('isom'), u32(512), ascii('isomavc1')), bytes]);
};
const edits = (start: number): Buffer => box('edts', box('elst', u32(0, 1, 107, start, 0x1_0000)));

export const MP4_BOMBS: readonly Row[] = [
  ['a chunk of four thousand million samples', spinningMp4, 'broken'],
  ['a time of four thousand million samples', () => table('stts', u32(0, 1, MOST, 1)), 'broken'],
  [
    'two thousand million samples of one byte',
    () => mp4({ samples: 0x7fff_ffff, sampleBytes: 1, dataBytes: 16 }),
    'broken',
  ],
  ['a million samples of no bytes', () => mp4({ samples: 1_000_000, sampleBytes: 0, dataBytes: 16 }), 'broken'],
  ...['stts', 'stsc', 'stsz', 'stco', 'stsd'].map((name): Row => [
    `a table ${name} that claims more than it holds`,
    () => claiming(name),
    'broken',
  ]),
  ...['ctts', 'stss'].map((name): Row => [
    `a table ${name} of four thousand million entries`,
    () => table(name, u32(0, MOST, 1, 1)),
    'broken',
  ]),
  ['ten million sizes', () => mp4({ samples: 10_000_000, eachSize: true, dataBytes: 16 }), 'broken'],
  [
    'ten million times',
    () => table('stts', Buffer.concat([u32(0, 10_000_000), many(10_000_000, u32(1, 1))])),
    'broken',
  ],
  ['samples that are missing', () => mp4({ sampleBytes: 0x7fff_ffff, dataBytes: 16 }), 'broken'],
  ['a hundred thousand movies in one another', () => inOneAnother(100_000, 'moov', 'moov'), 'broken'],
  ['a million tracks in one another', () => inOneAnother(1_000_000, 'moov', 'trak'), 'broken'],
  ['a million media in one another', () => inOneAnother(1_000_000, 'moov', 'mdia'), 'broken'],
  ['a thousand tracks', () => mp4({ tracks: 1000 }), 'broken'],
  ['thirty thousand tracks', () => mp4({ tracks: 30_000 }), 'broken'],
  ['one track more than the limit', () => mp4({ tracks: 9 }), 'broken'],
  ['as many tracks as the limit', () => mp4({ tracks: 8 }), { frames: 107 }],
  ['no track', () => mp4({ tracks: 0 }), 'no_video'],
  ['a track that is no video', () => mp4({ handler: 'hint' }), 'no_video'],
  ['a movie box that is larger than the limit', () => mp4({ inMovie: box('free', Buffer.alloc(10 * MIB)) }), 'broken'],
  ['a large movie box', () => mp4({ inMovie: box('free', Buffer.alloc(7 * MIB)) }), { frames: 107 }],
  ['four million empty boxes', () => mp4({ after: many(4_000_000, box('free')) }), 'broken'],
  ['a hundred thousand empty boxes', () => mp4({ after: many(100_000, box('free')) }), { frames: 107 }],
  ['no unit of time', () => mp4({ timescale: 0 }), 'broken'],
  ['the smallest unit of time', () => mp4({ timescale: MOST }), 'broken'],
  ['an edit that begins behind the end', () => mp4({ edits: edits(0x7fff_ffff) }), 'broken'],
  [
    'a million edits',
    () => mp4({ edits: box('edts', box('elst', u32(0, 500_000), many(500_000, u32(1, 0, 0x1_0000)))) }),
    { durationMs: 4458 },
  ],
  [
    'a box of seven bytes',
    () => Buffer.concat([mp4().subarray(0, 28), u32(7), ascii('moov'), Buffer.alloc(100)]),
    'no_video',
  ],
  [
    'a box without an end',
    () => Buffer.concat([mp4().subarray(0, 28), u32(1), ascii('mdat'), u32(0x7fff_ffff, MOST), Buffer.alloc(100)]),
    'no_video',
  ],
  [
    'a packed movie box',
    () =>
      Buffer.concat([
        mp4().subarray(0, 28),
        box('moov', box('cmov', box('dcom', ascii('zlib')), box('cmvd', u32(MOST), Buffer.alloc(99)))),
      ]),
    'no_video',
  ],
  ['a fragment of four thousand million samples', () => fragmentedMp4(1, MOST), 'broken'],
  ['a thousand fragments of a million samples', () => fragmentedMp4(1000, 1_000_000), 'broken'],
  ['a hundred thousand empty fragments', () => fragmentedMp4(100_000, 0), 'broken'],
  ['a page before a movie', () => Buffer.concat([ascii('<html>'), fixture('768p.mp4')]), 'unknown_type'],
  [
    'an archive behind a movie',
    () => Buffer.concat([fixture('768p.mp4'), hex('504b0304'), Buffer.alloc(99)]),
    { durationMs: 4458 },
  ],
  ['a playlist', () => ascii('#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n'), 'unknown_type'],
  ['a manifest', () => ascii('<?xml version="1.0"?><MPD xmlns="urn:mpeg:dash:schema:mpd:2011"></MPD>'), 'unknown_type'],
  ['an AVI', () => Buffer.concat([ascii('RIFF'), u32(0), ascii('AVI LIST'), Buffer.alloc(99)]), 'unknown_type'],
  ['an ASF', () => Buffer.concat([hex('3026b2758e66cf11a6d900aa0062ce6c'), Buffer.alloc(60)]), 'unknown_type'],
];

const length = (bytes: number): Buffer =>
  Buffer.concat([hex('01'), u32(Math.floor(bytes / 2 ** 32)).subarray(1), u32(bytes % 2 ** 32)]);
export const element = (id: string, ...parts: readonly Buffer[]): Buffer => {
  const body = Buffer.concat(parts);
  return Buffer.concat([hex(id), length(body.byteLength), body]);
};
const HEAD = element('1a45dfa3', element('4282', ascii('webm')));
const ENDLESS = hex('01ffffffffffffff');
const trackEntry = (id: number): Buffer =>
  element(
    'ae',
    element('d7', u16(id)),
    element('83', hex('01')),
    element('86', ascii('V_VP8')),
    element('e0', element('b0', u16(320)), element('ba', u16(256))),
  );
export const webm = (...parts: readonly Buffer[]): Buffer => Buffer.concat([HEAD, element('18538067', ...parts)]);
const TRACKS = element('1654ae6b', trackEntry(1));

export const WEBM_BOMBS: readonly Row[] = [
  [
    'a hundred thousand segments in one another',
    () => Buffer.concat([HEAD, many(100_000, Buffer.concat([hex('18538067'), ENDLESS]))]),
    'broken',
  ],
  [
    'a million tags in one another',
    () =>
      webm(
        element(
          '1254c367',
          element(
            '7373',
            Buffer.concat(
              Array.from({ length: 200_000 }, (_, depth) =>
                Buffer.concat([hex('67c8'), length(10 * (199_999 - depth))]),
              ),
            ),
          ),
        ),
      ),
    'broken',
  ],
  [
    'a million empty elements',
    () => Buffer.concat([HEAD, hex('18538067'), ENDLESS, many(1_000_000, element('ec'))]),
    'no_video',
  ],
  [
    'a thousand tracks',
    () => webm(element('1654ae6b', ...Array.from({ length: 1000 }, (_, id) => trackEntry(id + 1)))),
    'broken',
  ],
  [
    'three hundred thousand cues',
    () => webm(TRACKS, element('1c53bb6b', many(300_000, element('bb', element('b3', hex('01')), element('b7'))))),
    'broken',
  ],
  [
    'three hundred thousand empty clusters',
    () => webm(TRACKS, many(300_000, element('1f43b675', element('e7', hex('01'))))),
    'broken',
  ],
  [
    'a cluster with false frames',
    () =>
      webm(
        TRACKS,
        element('1f43b675', element('e7', hex('00')), element('a3', hex('81 0000 86 ff'), Buffer.alloc(300, 255))),
      ),
    'broken',
  ],
  ['only its header', () => HEAD, 'no_video'],
];

/**
 * An MP3 with true tables that still keeps a parser busy: it has millions of frame headers, and the parser reads each
 * one.
 */
export const endlessMp3 = (): Buffer => many(17_500_000, hex('fffb10c4'));

const changedWav = (change: (bytes: Buffer) => void): Buffer => {
  const copy = Buffer.from(WAV);
  change(copy);
  return copy;
};

export const AUDIO_BOMBS: readonly Row[] = [
  [
    'a WAV that claims four gigabytes',
    () => changedWav((bytes) => bytes.writeUInt32LE(MOST, 40)),
    { durationMs: 3000 },
  ],
  [
    'a WAV that claims a longer duration',
    () => changedWav((bytes) => bytes.writeUInt32LE(5 * 24_000, 40)),
    { durationMs: 3000 },
  ],
  [
    'a WAV without a rate',
    () =>
      changedWav((bytes) => {
        bytes.fill(0, 24, 32);
      }),
    'broken',
  ],
  ['a WAV of samples of no bytes', () => changedWav((bytes) => bytes.writeUInt16LE(0, 32)), 'broken'],
  ['a WAV of the highest rate', () => changedWav((bytes) => bytes.writeUInt32LE(MOST, 24)), 'broken'],
  [
    'a WAV of two million parts',
    () =>
      Buffer.concat([WAV.subarray(0, 36), many(2_000_000, Buffer.concat([ascii('LIST'), u32(0)])), WAV.subarray(36)]),
    'broken',
  ],
  [
    'a WAV with a part without an end',
    () => Buffer.concat([WAV.subarray(0, 12), ascii('junk'), u32(MOST), WAV.subarray(12)]),
    'broken',
  ],
  ['an MP3 of zeros', () => Buffer.concat([MP3.subarray(0, 400), Buffer.alloc(10 * MIB)]), { durationMs: 52 }],
  ['an MP3 of heads without frames', endlessMp3, 'overrun'],
  ['an MP3 of ones', () => Buffer.concat([MP3.subarray(0, 2000), Buffer.alloc(10 * MIB, 0xff)]), { durationMs: 444 }],
  [
    'a million tags before an MP3',
    () => Buffer.concat([many(1_000_000, hex('494433 0300 00 00000000')), MP3]),
    'unknown_type',
  ],
  [
    'a large tag before an MP3',
    () => Buffer.concat([hex('494433 0300 00 07000000'), Buffer.alloc(7 * 2 ** 21), MP3]),
    { durationMs: 3056 },
  ],
  ['an Ogg', () => Buffer.concat([ascii('OggS'), Buffer.alloc(60)]), 'unknown_type'],
  ['a FLAC', () => Buffer.concat([ascii('fLaC'), Buffer.alloc(60)]), 'unknown_type'],
  [
    'audio in an MP4',
    () => Buffer.concat([box('ftyp', ascii('M4A '), u32(0), ascii('M4A mp42isom')), mp4().subarray(28)]),
    'unknown_type',
  ],
  ['raw AAC', () => many(200, hex('fff15080011ffc00')), 'unknown_type'],
  ['byte order marks', () => many(2000, hex('efbbbf')), 'unknown_type'],
  ['nothing', () => NOTHING, 'unknown_type'],
];
