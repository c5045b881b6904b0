import { refuse } from '../refusal.ts';

/** Zero bytes after the last byte, so that a reader can peek beyond the end. */
const PADDING_BYTES = 16;
const ZEROS_MAX = 32;
const SHORT_ZEROS_MAX = 11;
const PEEK_BITS = 25;

/** The payload of a NAL unit, and the read position in bits. */
export interface Bits {
  readonly bytes: Uint8Array;
  /** The position of the stop bit. No syntax element is behind it. */
  readonly end: number;
  position: number;
}

/** Creates a reader of a NAL unit. It starts after the header byte and leaves out the emulation prevention bytes (7.4.1). */
export function newBits(unit: Uint8Array): Bits {
  const bytes = new Uint8Array(unit.byteLength + PADDING_BYTES);
  let length = 0;
  let zeros = 0;
  for (const byte of unit.subarray(1)) {
    if (zeros >= 2 && byte === 3) {
      zeros = 0;
    } else {
      bytes[length] = byte;
      length += 1;
      zeros = byte === 0 ? zeros + 1 : 0;
    }
  }
  while (length > 0 && bytes[length - 1] === 0) length -= 1;
  const last = bytes[length - 1] ?? 0;
  return { bytes, end: length === 0 ? 0 : length * 8 - 32 + Math.clz32(last & -last), position: 0 };
}

/** The next bits, at most 25, without moving the position. Bits beyond the end are zero. */
export function peek(bits: Bits, count: number): number {
  const at = bits.position >>> 3;
  const { bytes } = bits;
  const window =
    ((bytes[at] as number) << 24) |
    ((bytes[at + 1] as number) << 16) |
    ((bytes[at + 2] as number) << 8) |
    (bytes[at + 3] as number);
  return (window << (bits.position & 7)) >>> (32 - count);
}

export function skip(bits: Bits, count: number): void {
  bits.position += count;
  if (bits.position > bits.end) refuse('corrupt', 'the data end early');
}

/** Reads an unsigned number of `count` bits, at most 32. */
export function readBits(bits: Bits, count: number): number {
  if (count === 0) return 0;
  if (count > PEEK_BITS) return readBits(bits, count - 16) * 0x1_00_00 + readBits(bits, 16);
  const value = peek(bits, count);
  skip(bits, count);
  return value;
}

export function readFlag(bits: Bits): boolean {
  return readBits(bits, 1) === 1;
}

/** ue(v) of 9.1. */
export function readUnsigned(bits: Bits): number {
  const zeros = Math.clz32(peek(bits, PEEK_BITS)) - (32 - PEEK_BITS);
  if (zeros <= SHORT_ZEROS_MAX) return readBits(bits, 2 * zeros + 1) - 1;
  return readLongUnsigned(bits);
}

function readLongUnsigned(bits: Bits): number {
  let zeros = 0;
  while (!readFlag(bits)) {
    zeros += 1;
    if (zeros > ZEROS_MAX) refuse('corrupt', 'a number is too long');
  }
  return 2 ** zeros - 1 + readBits(bits, zeros);
}

/** se(v) of 9.1. */
export function readSigned(bits: Bits): number {
  const code = readUnsigned(bits);
  return code % 2 === 0 ? 0 - code / 2 : (code + 1) / 2;
}

export function moreData(bits: Bits): boolean {
  return bits.position < bits.end;
}
