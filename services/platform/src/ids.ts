import { randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

// RFC 4648's extended hexadecimal alphabet: its letters sort as the bytes do, so ids sort by time.
const ALPHABET = '0123456789abcdefghijklmnopqrstuv';
/** Two letters for ten bits: ids are made for every request. */
const PAIRS = Array.from(ALPHABET, (first) => Array.from(ALPHABET, (second) => first + second)).flat();
const COUNTER_MAX = 0xfff;

/** Fills bytes with chance; the tests give a seeded one. */
export type Random = (bytes: Uint8Array) => void;

/** Asking the system costs the same for sixteen bytes as for thousands. */
const POOL_BYTES = 4096;
const pool = new Uint8Array(POOL_BYTES);
let used = POOL_BYTES;

export const systemRandom: Random = (bytes) => {
  if (bytes.length > POOL_BYTES) {
    randomFillSync(bytes);
    return;
  }
  if (used + bytes.length > POOL_BYTES) {
    randomFillSync(pool);
    used = 0;
  }
  const end = used + bytes.length;
  bytes.set(pool.subarray(used, end));
  // What may become a key is kept nowhere else.
  pool.fill(0, used, end);
  used = end;
};

/** Makes ids: a prefix and 26 characters, the lower-case base32 of a UUIDv7, ordered by time within one process. */
export type NewId = (prefix: string) => string;

export function newIds(clock: Clock, random: Random = systemRandom): NewId {
  let last = 0;
  let counter = 0;
  return (prefix) => {
    const now = Math.max(clock.now(), last);
    counter = now === last ? counter + 1 : 0;
    last = counter > COUNTER_MAX ? now + 1 : now;
    if (counter > COUNTER_MAX) counter = 0;
    return `${prefix}_${base32(uuidV7(last, counter, random))}`;
  };
}

/** A fresh key of so many random bytes, as base32. */
export function newKey(prefix: string, bytes: number, random: Random = systemRandom): string {
  const raw = new Uint8Array(bytes);
  random(raw);
  return `${prefix}_${base32(raw)}`;
}

/** RFC 9562: 48 bits of milliseconds, version, 12 bits that count within a millisecond, variant, 62 random bits. */
function uuidV7(ms: number, counter: number, random: Random): Uint8Array {
  const bytes = new Uint8Array(16);
  random(bytes);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, Math.floor(ms / 0x1_0000));
  view.setUint16(4, ms % 0x1_0000);
  view.setUint16(6, 0x7000 | counter);
  view.setUint8(8, 0x80 | (view.getUint8(8) & 0x3f));
  return bytes;
}

function base32(bytes: Uint8Array): string {
  let out = '';
  let bits = 0;
  let held = 0;
  for (const byte of bytes) {
    held = (held << 8) | byte;
    bits += 8;
    if (bits >= 10) {
      bits -= 10;
      out += PAIRS[held >>> bits] ?? '';
      held &= (1 << bits) - 1;
    }
  }
  if (bits >= 5) {
    bits -= 5;
    out += ALPHABET.charAt(held >>> bits);
    held &= (1 << bits) - 1;
  }
  return bits > 0 ? out + ALPHABET.charAt((held << (5 - bits)) & 31) : out;
}
