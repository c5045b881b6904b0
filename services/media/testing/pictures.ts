import { crc32, deflateSync } from 'node:zlib';

/** A grey PNG. `declared` can be another size than that of its rows. */
export function png(
  width: number,
  height: number,
  declared: { width: number; height: number } = { width, height },
): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(declared.width, 0);
  header.writeUInt32BE(declared.height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const rows = deflateSync(Buffer.alloc((width + 1) * height));
  return Buffer.concat([PNG_SIGNATURE, chunk('IHDR', header), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
}

/** The same with the chunk of an animation. */
export function apng(width: number, height: number): Buffer {
  const still = png(width, height);
  const headEnd = PNG_SIGNATURE.byteLength + 25;
  return Buffer.concat([
    still.subarray(0, headEnd),
    chunk('acTL', Buffer.from([0, 0, 0, 2, 0, 0, 0, 0])),
    still.subarray(headEnd),
  ]);
}

export const PNG_SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

export function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const bytes = Buffer.alloc(8 + body.byteLength);
  bytes.writeUInt32BE(data.byteLength, 0);
  bytes.set(body, 4);
  bytes.writeUInt32BE(crc32(body), 4 + body.byteLength);
  return bytes;
}

/** The boxes of a HEIC up to its size, without pixels. */
export function heic(width: number, height: number, brand = 'heic'): Buffer {
  const size = Buffer.alloc(12);
  size.writeUInt32BE(width, 4);
  size.writeUInt32BE(height, 8);
  const associations = Buffer.from([0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 1, 1]);
  const primary = Buffer.from([0, 0, 0, 0, 0, 1]);
  const properties = box('iprp', box('ipco', box('ispe', size)), box('ipma', associations));
  const meta = box('meta', Buffer.alloc(4), box('pitm', primary), properties);
  return Buffer.concat([
    box('ftyp', Buffer.from(`${brand}\0\0\0\0mif1${brand === 'avif' ? 'avif' : 'heic'}`, 'latin1')),
    meta,
    box('mdat', Buffer.alloc(64)),
  ]);
}

function box(type: string, ...parts: readonly Buffer[]): Buffer {
  const body = Buffer.concat(parts);
  const head = Buffer.alloc(8, type.padStart(8, '\0'), 'latin1');
  head.writeUInt32BE(body.byteLength + 8, 0);
  return Buffer.concat([head, body]);
}

/** Silent audio, as 8-bit samples at 8 kHz. */
export function wav(seconds: number): Buffer {
  const samples = Math.round(seconds * 8000);
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8000, 24);
  head.writeUInt32LE(8000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}
