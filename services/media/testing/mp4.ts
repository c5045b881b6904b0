import { ascii, box, u16, u32 } from './boxes.ts';

/** The content of a generated movie. Missing fields are those of a clip of 107 frames at 24 per second. */
export interface Mp4Options {
  readonly width?: number;
  readonly height?: number;
  readonly timescale?: number;
  /** The duration in the headers; that of the sample table is `samples` times `delta`. */
  readonly duration?: number;
  readonly samples?: number;
  readonly delta?: number;
  readonly samplesPerChunk?: number;
  /** True if each size is written, instead of one size for all samples. */
  readonly eachSize?: boolean;
  readonly sampleBytes?: number;
  readonly dataBytes?: number;
  /** Boxes of the sample table, by name, that replace the generated ones; undefined: no such box. */
  readonly tables?: Readonly<Record<string, Buffer | undefined>>;
  /** Bytes in the track before its media: an edit list. */
  readonly edits?: Buffer;
  readonly tracks?: number;
  readonly handler?: string;
  /** Bytes in the movie box before its tracks. */
  readonly inMovie?: Buffer;
  /** Bytes behind the movie box. */
  readonly after?: Buffer;
}

/** A minimal MP4 with one H.264 track and no pictures in it. */
export function mp4(options: Mp4Options = {}): Buffer {
  const { dataBytes = 107 * (options.sampleBytes ?? 4) } = options;
  return Buffer.concat([
    box('ftyp', ascii('isom'), u32(512), ascii('isomavc1')),
    box('mdat', Buffer.alloc(dataBytes, 1)),
    movie(options),
    options.after ?? NOTHING,
  ]);
}

/** A million existing samples of one byte: each becomes an object in the parser's memory. */
export function heavyMp4(): Buffer {
  return Buffer.concat([fragmentedMp4(1, 1_000_000, 1), box('free', Buffer.alloc(1_000_000))]);
}

/**
 * About 689 bytes that would block a parser for minutes: every chunk claims four thousand million samples.
 */
export function spinningMp4(): Buffer {
  return mp4({ samples: 2, eachSize: true, samplesPerChunk: 0xffff_ffff, dataBytes: 16 });
}

function movie(options: Mp4Options): Buffer {
  const { timescale = 24, samples = 107, duration = samples, tracks = 1, inMovie = NOTHING } = options;
  const header = box(
    'mvhd',
    u32(0, 0, 0, timescale, duration, 0x1_0000),
    u16(0x100, 0),
    u32(0, 0),
    MATRIX,
    u32(0, 0, 0, 0, 0, 0, 2),
  );
  return box('moov', header, inMovie, ...Array.from({ length: tracks }, (_, index) => trackOf(index + 1, options)));
}

function trackOf(id: number, options: Mp4Options): Buffer {
  const { width = 1344, height = 768, timescale = 24, samples = 107, duration = samples, edits = NOTHING } = options;
  const track = box(
    'tkhd',
    u32(3, 0, 0, id, 0, duration, 0, 0),
    u16(0, 0, 0, 0),
    MATRIX,
    u32(width * 0x1_0000, height * 0x1_0000),
  );
  const media = box('mdhd', u32(0, 0, 0, timescale, duration), u16(0x55c4, 0));
  const handler = box('hdlr', u32(0, 0), ascii(options.handler ?? 'vide'), u32(0, 0, 0), ascii('v\0'));
  const reference = box('dinf', box('dref', u32(0, 1), box('url ', u32(1))));
  const information = box(
    'minf',
    box('vmhd', u32(1), u16(0, 0, 0, 0)),
    reference,
    sampleTable({ ...options, width, height, samples }),
  );
  return box('trak', track, edits, box('mdia', media, handler, information));
}

function sampleTable({
  width = 0,
  height = 0,
  samples = 0,
  delta = 1,
  samplesPerChunk = samples,
  eachSize = false,
  sampleBytes = 4,
  tables = {},
}: Mp4Options): Buffer {
  const coded = box(
    'avc1',
    Buffer.alloc(6),
    u16(1),
    Buffer.alloc(16),
    u16(width, height),
    u32(0x48_0000, 0x48_0000, 0),
    u16(1),
    Buffer.alloc(32),
    u16(24, 0xffff),
    box('avcC', H264),
  );
  const sizes = eachSize
    ? Buffer.concat([u32(0, 0, samples), Buffer.alloc(4 * samples, u32(sampleBytes))])
    : u32(0, sampleBytes, samples);
  const all: Mp4Options['tables'] & object = {
    stsd: Buffer.concat([u32(0, 1), coded]),
    stts: u32(0, 1, samples, delta),
    stsc: u32(0, 1, 1, samplesPerChunk, 1),
    stsz: sizes,
    stco: u32(0, 1, FIRST_SAMPLE_AT),
    ...tables,
  };
  return box(
    'stbl',
    ...Object.entries(all).flatMap(([name, bytes]) => (bytes === undefined ? [] : [box(name, bytes)])),
  );
}

/** The offset behind the first box of 28 bytes and the header of the second. */
const FIRST_SAMPLE_AT = 36;
const H264 = Buffer.from('0142c01effe1000e6742c01e95a0150067e7010110a001000468ce3c80', 'hex');
const NOTHING = Buffer.alloc(0);
const MATRIX = u32(0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000);

/**
 * The samples of a movie with empty tables, in fragments behind it. Each fragment can claim more than it holds.
 */
export function fragmentedMp4(fragments: number, samplesInEach: number, sampleBytes = 4): Buffer {
  const trackRun = samplesInEach < 0 ? Buffer.alloc(0) : box('trun', u32(0, samplesInEach));
  const fragment = Buffer.concat([
    box('moof', box('mfhd', u32(0, 1)), box('traf', box('tfhd', u32(0x02_0000, 1)), trackRun)),
    box('mdat', Buffer.alloc(4)),
  ]);
  return mp4({
    samples: 0,
    tables: { stts: u32(0, 0), stsc: u32(0, 0), stsz: u32(0, 0, 0), stco: u32(0, 0) },
    inMovie: box('mvex', box('trex', u32(0, 1, 1, 1, sampleBytes, 0))),
    after: Buffer.concat(Array.from({ length: fragments }, () => fragment)),
  });
}
