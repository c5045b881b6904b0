import { deflateSync } from 'node:zlib';
import { ascii, box, hex, u16, u32 } from './boxes.ts';
import { fixture } from './origin.ts';
import { PNG_SIGNATURE, apng, chunk, heic, png } from './pictures.ts';

const SIDE = 300;
const NOTHING = Buffer.alloc(0);
const MIB = 1024 ** 2;
const PNG = fixture('image.png');
const JPEG = fixture('image.jpg');
const WEBP = fixture('image.webp');
const HEAD_BYTES = 33;
const UNKNOWN: readonly [string, Buffer][] = [
  ['a web page', ascii('<html><script>alert(1)</script>')],
  [
    'a vector drawing',
    ascii('<svg xmlns="http://www.w3.org/2000/svg" width="300" height="300"><image href="file:///etc/passwd"/></svg>'),
  ],
  [
    'a GIF with an archive behind it',
    hex('474946383961 01000100 80000000 0000ffffff 2c000000000100010000 02024401003b 504b0304'),
  ],
  ['a bitmap', Buffer.concat([ascii('BM'), Buffer.alloc(60)])],
  ['an icon', Buffer.concat([hex('00000100010010100000'), Buffer.alloc(60)])],
  ['a TIFF', Buffer.concat([hex('49492a0008000000'), Buffer.alloc(60)])],
  ['a TIFF in the other byte order', Buffer.concat([hex('4d4d002a00000008'), Buffer.alloc(60)])],
  ['a document', ascii('%PDF-1.7\n')],
  ['a document with a photo in it', Buffer.concat([ascii('%PDF-1.4\n'), JPEG])],
  ['an archive', hex('504b0304140000000000')],
  ['an archive before a photo', Buffer.concat([hex('504b0304140000000000'), JPEG])],
  ['an AVIF', heic(640, 480, 'avif')],
  ['a picture behind a space', Buffer.concat([ascii(' '), PNG])],
  [
    'a PNG whose first chunk is not its header',
    Buffer.concat([PNG_SIGNATURE, chunk('tEXt', ascii('a\0b')), header(SIDE, SIDE), pixels(), end()]),
  ],
];

/** Files that are refused as pictures, by their fault. None can take much time or memory. */
export const PICTURE_BOMBS: readonly (readonly [string, () => Buffer, string])[] = [
  ...UNKNOWN.map(([what, bytes]) => [what, () => bytes, 'unknown_type'] as const),
  [
    'a PNG of ten thousand million pixels',
    () => Buffer.concat([PNG_SIGNATURE, header(100_000, 100_000), pixels(), end()]),
    'too_many_pixels',
  ],
  [
    'a PNG of forty million pixels in one row',
    () =>
      Buffer.concat([
        PNG_SIGNATURE,
        header(40_000_000, 1),
        chunk('IDAT', deflateSync(Buffer.alloc(40_000_001))),
        end(),
      ]),
    'too_many_pixels',
  ],
  ['a PNG without rows', () => png(1, 1, { width: 0, height: 0 }), 'broken'],
  [
    'a PNG with two sizes',
    () => Buffer.concat([PNG_SIGNATURE, header(SIDE, SIDE), header(50_000, 50_000), pixels(), end()]),
    'broken',
  ],
  ['a PNG with a changed byte', () => changed(PNG, PNG.byteLength - 20), 'broken'],
  ['a truncated PNG', () => PNG.subarray(0, 20_000), 'broken'],
  ['an animated PNG', () => apng(SIDE, SIDE), 'unknown_type'],
  [
    'an animated PNG with a late animation chunk',
    () =>
      Buffer.concat([
        PNG_SIGNATURE,
        header(SIDE, SIDE),
        chunk('tEXt', Buffer.alloc(2 * MIB, 65)),
        chunk('acTL', u32(2, 0)),
        pixels(),
        end(),
      ]),
    'several_frames',
  ],
  [
    'a PNG with gigabytes of text',
    () =>
      withChunks(
        Array.from(
          { length: 30 },
          onceMade(() => chunk('zTXt', Buffer.concat([ascii('x\0\0'), deflateSync(Buffer.alloc(100 * MIB))]))),
        ),
      ),
    'overrun',
  ],
  [
    'a PNG with a hundred thousand texts',
    () => withChunks(Array.from({ length: 100_000 }, () => chunk('tEXt', ascii('a\0b')))),
    'overrun',
  ],
  ['a JPEG of four thousand million pixels', () => resized(65_535, 65_535), 'too_many_pixels'],
  ['a JPEG with fewer rows than its height', () => resized(640, 5000), 'broken'],
  ['a JPEG with shorter rows than its width', () => resized(5000, 360), 'broken'],
  [
    'a JPEG with two sizes',
    () => Buffer.concat([JPEG.subarray(0, sizeAt() + 19), resized(6000, 6000).subarray(sizeAt())]),
    'broken',
  ],
  ['a truncated JPEG', () => JPEG.subarray(0, 8000), 'broken'],
  ['a truncated JPEG with an end marker', () => Buffer.concat([JPEG.subarray(0, 8000), hex('ffd9')]), 'broken'],
  ['a JPEG of nine hundred scans', () => jpegOfScans(5760, 882), 'overrun'],
  ['a JPEG of nine hundred scans with bytes between them', () => jpegOfScans(5760, 882, hex('00')), 'overrun'],
  [
    'a JPEG with another, small JPEG in its metadata',
    () =>
      Buffer.concat([
        hex('ffd8 ffe1'),
        u16(JPEG.byteLength + 8),
        ascii('Exif\0\0'),
        JPEG,
        resized(7000, 6000).subarray(2),
      ]),
    'too_many_pixels',
  ],
  ['a WebP whose frame is larger than its canvas', () => canvas(16, 16), 'broken'],
  ['a WebP whose canvas is larger than its frame', () => canvas(2000, 2000), 'broken'],
  ['a WebP of two hundred million pixels', () => canvas(16_000, 16_000), 'too_many_pixels'],
  ['a truncated WebP', () => WEBP.subarray(0, 2000), 'broken'],
  ['an animated WebP', () => fixture('animated.webp'), 'several_frames'],
  ['an HEIC of many pixels', () => heic(60_000, 60_000), 'too_many_pixels'],
  ['an HEIC of twenty thousand boxes in one another', () => nested(), 'broken'],
];

/** Files that are pictures and something else. A channel gets only the picture. */
export const PICTURE_POLYGLOTS: readonly (readonly [string, () => Buffer])[] = [
  [
    'a PNG and an archive',
    () => Buffer.concat([PNG, hex('504b0304'), ascii('SECOND'), hex('504b0506'), Buffer.alloc(18)]),
  ],
  [
    'a JPEG and an archive',
    () => Buffer.concat([JPEG, hex('504b0304'), ascii('SECOND'), hex('504b0506'), Buffer.alloc(18)]),
  ],
  ['a JPEG and a page', () => Buffer.concat([JPEG, ascii('<html>SECOND</html>')])],
  [
    'a JPEG with a page in its comment',
    () => Buffer.concat([hex('ffd8 fffe'), u16(15), ascii('<html>SECOND'), Buffer.from([0]), JPEG.subarray(2)]),
  ],
  [
    'a PNG with a page in its text',
    () =>
      Buffer.concat([PNG.subarray(0, HEAD_BYTES), chunk('tEXt', ascii('a\0<html>SECOND')), PNG.subarray(HEAD_BYTES)]),
  ],
  ['a WebP and a page', () => Buffer.concat([WEBP, ascii('<html>SECOND')])],
];

function onceMade(make: () => Buffer): () => Buffer {
  let made: Buffer | undefined;
  return () => (made ??= make());
}

function header(width: number, height: number): Buffer {
  return chunk('IHDR', Buffer.concat([u32(width, height), Buffer.from([8, 0, 0, 0, 0])]));
}

function pixels(): Buffer {
  return chunk('IDAT', deflateSync(Buffer.alloc((SIDE + 1) * SIDE)));
}

function end(): Buffer {
  return chunk('IEND', NOTHING);
}

function withChunks(chunks: readonly Buffer[]): Buffer {
  return Buffer.concat([PNG_SIGNATURE, header(SIDE, SIDE), ...chunks, pixels(), end()]);
}

function changed(bytes: Buffer, at: number): Buffer {
  const copy = Buffer.from(bytes);
  copy[at] = (copy[at] ?? 0) ^ 1;
  return copy;
}

function sizeAt(): number {
  return JPEG.indexOf(hex('ffc0'));
}

function resized(width: number, height: number): Buffer {
  const copy = Buffer.from(JPEG);
  copy.writeUInt16BE(height, sizeAt() + 5);
  copy.writeUInt16BE(width, sizeAt() + 7);
  return copy;
}

function canvas(width: number, height: number): Buffer {
  const extended = Buffer.alloc(18);
  extended.write('VP8X', 0, 'latin1');
  extended.writeUInt32LE(10, 4);
  extended.writeUIntLE(width - 1, 12, 3);
  extended.writeUIntLE(height - 1, 15, 3);
  const body = Buffer.concat([ascii('WEBP'), extended, WEBP.subarray(12)]);
  const head = Buffer.alloc(8, 'RIFF', 'latin1');
  head.writeUInt32LE(body.byteLength, 4);
  return Buffer.concat([head, body]);
}

function nested(): Buffer {
  const heads = Array.from({ length: 20_000 }, (_, depth) => Buffer.concat([u32(8 * (20_000 - depth)), ascii('meta')]));
  return Buffer.concat([box('ftyp', ascii('heic\0\0\0\0mif1heic')), ...heads]);
}

/**
 * A grey progressive JPEG of one value, in the most passes over the whole picture, each of a few bytes. `between`
 * precedes each pass.
 */
export function jpegOfScans(side: number, scans: number, between: Buffer = NOTHING): Buffer {
  const segment = (code: number, ...parts: readonly Buffer[]): Buffer => {
    const body = Buffer.concat(parts);
    return Buffer.concat([Buffer.from([0xff, code]), u16(body.byteLength + 2), body]);
  };
  const oneSymbol = (table: number, symbol: number): Buffer =>
    segment(0xc4, Buffer.from([table, 1, ...Array.from({ length: 15 }, () => 0), symbol]));
  const blocks = (side / 8) ** 2;
  const runs = bitsOf('0'.repeat(15).repeat(Math.ceil(blocks / 2 ** 14)));
  const passes = Array.from({ length: scans }, (_, index) => {
    const [coefficient, low] = [1 + Math.floor(index / 14), 13 - (index % 14)];
    return Buffer.concat([
      between,
      segment(0xda, Buffer.from([1, 1, 0, coefficient, coefficient, (low === 13 ? 0 : low + 1) * 16 + low])),
      runs,
    ]);
  });
  return Buffer.concat([
    hex('ffd8'),
    segment(0xdb, Buffer.from([0]), Buffer.alloc(64, 1)),
    segment(0xc2, Buffer.from([8]), u16(side, side), hex('01 01 11 00')),
    oneSymbol(0, 0),
    segment(0xda, hex('01 01 00 00 00 00')),
    bitsOf('0'.repeat(blocks)),
    oneSymbol(0x10, 0xe0),
    ...passes,
    hex('ffd9'),
  ]);
}

/** Zeros and ones as bytes, filled up with ones. Never a byte that looks like a marker. */
function bitsOf(bits: string): Buffer {
  const whole = bits.padEnd(Math.ceil(bits.length / 8) * 8, '1');
  return Buffer.from(
    Array.from({ length: whole.length / 8 }, (_, index) => Number.parseInt(whole.slice(8 * index, 8 * index + 8), 2)),
  );
}
