import { createHash, randomFillSync } from 'node:crypto';
import type { Clock } from './clock.ts';

// The extended hexadecimal alphabet of RFC 4648. Its letters sort like the bytes, so ids sort by time.
const LETTERS = Buffer.from('0123456789abcdefghijklmnopqrstuv');
const COUNTER_MAX = 0xfff;
const UUID_BYTES = 16;
const ID_LETTERS = 26;
const TIME_LETTERS = 10;
const OWN_FORM = /^[a-z]{2,12}_[0-9a-v]{26}$/;

/** Fills the array with random bytes. Tests inject a seeded source. */
export type Random = (bytes: Uint8Array) => void;

/** One system call takes the same time for sixteen bytes as for thousands. */
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
  for (let at = 0; at < bytes.length; at += 1) {
    bytes[at] = pool[used + at] ?? 0;
    // these bytes can become a key, so no copy remains
    pool[used + at] = 0;
  }
  used += bytes.length;
};

/** Creates ids: a prefix and 26 characters, the lower-case base32 of a UUIDv7, ordered by time within one process. */
export type NewId = (prefix: string) => string;

export function newIds(clock: Clock, random: Random = systemRandom): NewId {
  const bytes = new Uint8Array(UUID_BYTES);
  let last = 0;
  let counter = 0;
  return (prefix) => {
    const now = Math.max(clock.now(), last);
    counter = now === last ? counter + 1 : 0;
    last = counter > COUNTER_MAX ? now + 1 : now;
    if (counter > COUNTER_MAX) counter = 0;
    random(bytes);
    writeUuidV7(bytes, last, counter);
    return `${prefix}_${base32(bytes)}`;
  };
}

/** Reports whether a text has the form of our ids. A client can send any text in place of one, such as a key. */
export function hasOwnForm(text: string): boolean {
  return OWN_FORM.test(text);
}

/** Returns a text that sorts before every id with this prefix that is created at this time or later. */
export function firstIdAt(prefix: string, ms: number): string {
  const bytes = new Uint8Array(UUID_BYTES);
  writeUuidV7(bytes, Math.max(0, ms), 0);
  return `${prefix}_${base32(bytes)}`;
}

/** Returns the creation time of an id in milliseconds since 1970, or undefined if the id contains no time. */
export function readIdTime(id: string): number | undefined {
  const letters = /_([0-9a-v]{26})$/.exec(id)?.[1];
  if (letters === undefined) return undefined;
  // these letters have 50 bits, of which the first 48 are the time
  return Math.floor(parseInt(letters.slice(0, TIME_LETTERS), 32) / 4);
}

/** Derives an id that is always the same for a name: a prefix and 26 characters of its SHA-256. It contains no time. */
export function deriveId(prefix: string, name: string): string {
  const digest = createHash('sha256').update(name).digest();
  return `${prefix}_${base32(digest).slice(0, ID_LETTERS)}`;
}

/** A new key of `bytes` random bytes, as base32. */
export function newKey(prefix: string, bytes: number, random: Random = systemRandom): string {
  const raw = new Uint8Array(bytes);
  random(raw);
  return `${prefix}_${base32(raw)}`;
}

/**
 * RFC 9562 over random bytes: 48 bits of milliseconds, the version, a 12-bit counter within the millisecond, the
 * variant. 62 bits stay random.
 */
function writeUuidV7(bytes: Uint8Array, ms: number, counter: number): void {
  const high = Math.floor(ms / 0x1_0000);
  bytes[0] = high >>> 24;
  bytes[1] = high >>> 16;
  bytes[2] = high >>> 8;
  bytes[3] = high;
  bytes[4] = ms >>> 8;
  bytes[5] = ms;
  bytes[6] = 0x70 | (counter >>> 8);
  bytes[7] = counter;
  bytes[8] = 0x80 | ((bytes[8] ?? 0) & 0x3f);
}

const GROUP_LETTERS = 8;
/** The buffer in which letters are written before they become a string. Longer strings get a buffer of their own. */
const scratch = Buffer.alloc(128);

/** Writes five bytes as eight letters. Missing bytes count as zero. Their letters lie beyond the end of the string. */
function writeGroup(out: Uint8Array, to: number, bytes: Uint8Array, from: number): void {
  const third = bytes[from + 2] ?? 0;
  writeFour(out, to, ((bytes[from] ?? 0) << 12) | ((bytes[from + 1] ?? 0) << 4) | (third >>> 4));
  writeFour(out, to + 4, ((third & 15) << 16) | ((bytes[from + 3] ?? 0) << 8) | (bytes[from + 4] ?? 0));
}

function writeFour(out: Uint8Array, to: number, bits: number): void {
  out[to] = LETTERS[bits >>> 15] ?? 0;
  out[to + 1] = LETTERS[(bits >>> 10) & 31] ?? 0;
  out[to + 2] = LETTERS[(bits >>> 5) & 31] ?? 0;
  out[to + 3] = LETTERS[bits & 31] ?? 0;
}

function base32(bytes: Uint8Array): string {
  const length = Math.ceil((bytes.length * 8) / 5);
  const out = length + GROUP_LETTERS > scratch.length ? Buffer.alloc(length + GROUP_LETTERS) : scratch;
  for (let at = 0, written = 0; at < bytes.length; at += 5, written += 8) writeGroup(out, written, bytes, at);
  const text = out.toString('latin1', 0, length);
  // the letters can be a key
  for (let at = 0; at < length + GROUP_LETTERS; at += 1) out[at] = 0;
  return text;
}
