import { closeSync, existsSync, openSync, readFileSync, readSync } from 'node:fs';
import type { Draws } from './draws.ts';
import { writeSomePages } from './written-pages.ts';

const HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
/** The words of a header that its checksum covers, and the place of the checksum. */
const CHECKED_WORDS = 6;
const SALT_AT = 16;
/** The words of the header of a frame that its checksum covers. */
const FRAME_CHECKED_WORDS = 2;
const NO_BYTES = Buffer.alloc(0);

/** A place in a log. SQLite begins a log anew after a checkpoint; each such part has a salt. */
export interface LogPlace {
  readonly salt: string;
  readonly end: number;
}

type Checksum = readonly [first: number, second: number];

/** The write-ahead log of a database, and which of its bytes are on the disk. */
export interface SimulatedLog {
  /** The end of the last commit that SQLite has written. */
  findEnd(): LogPlace;
  /** The bytes up to this place are on the disk. */
  sync(place: LogPlace): void;
  /** All bytes are on the disk. SQLite may begin the log anew. */
  syncAll(): void;
  /** What a power cut leaves: every synced byte, and some of the others. `said` tells it in words. */
  cut(name: string, options: CutOptions): { readonly bytes: Buffer; readonly said: string };
}

export interface CutOptions {
  readonly draws: Draws;
  /** True if the pages after the synced bytes can reach the disk in any order. */
  readonly isScattered: boolean;
}

/** `locate` gives the file: a process that was killed leaves it to the next one in another folder. */
export function openSimulatedLog(locate: () => string): SimulatedLog {
  let place: LogPlace = { salt: '', end: 0 };
  let checksum: Checksum = [0, 0];
  let synced = 0;
  /** What the disk has where the bytes of the file are not synced. */
  let durable = readAll(locate());
  const findEnd = (): LogPlace => {
    if (!existsSync(locate())) return place;
    const log = openSync(locate(), 'r');
    try {
      const header = readWords(log, 0, HEADER_BYTES);
      if (header === undefined) return place;
      const salt = String([header[SALT_AT / 4], header[SALT_AT / 4 + 1]]);
      if (salt !== place.salt) {
        // SQLite syncs the header before it writes a frame
        [place, synced] = [{ salt, end: HEADER_BYTES }, HEADER_BYTES];
        checksum = addWords([0, 0], header.subarray(0, CHECKED_WORDS));
      }
      const pageBytes = swapBytes(header[2]!);
      let [next, at]: [Checksum, number] = [checksum, place.end];
      for (;;) {
        const frame = readWords(log, at, FRAME_HEADER_BYTES + pageBytes);
        const checked = frame === undefined ? undefined : checkFrame(frame, next, salt);
        if (frame === undefined || checked === undefined) return place;
        [next, at] = [checked, at + FRAME_HEADER_BYTES + pageBytes];
        // the last frame of a commit has the size of the database; SQLite overwrites frames without a commit
        if (frame[1] !== 0) [checksum, place] = [next, { salt, end: at }];
      }
    } finally {
      closeSync(log);
    }
  };
  return {
    findEnd,
    sync: ({ salt, end }) => {
      if (salt === place.salt) synced = Math.max(synced, end);
    },
    syncAll: () => {
      synced = findEnd().end;
      durable = readAll(locate());
    },
    cut: (name, { draws, isScattered }) => {
      const { end } = findEnd();
      const written = readAll(locate());
      if (isScattered) {
        const bytes = writeSomePages(draws, name, { before: durable, after: written.subarray(0, end), from: synced });
        return { bytes, said: `keeps some pages after ${synced} of ${end} bytes` };
      }
      const left = draws.whole(name, Math.min(synced, end), end);
      const bytes = Buffer.concat([written.subarray(0, left), durable.subarray(left)]);
      return { bytes, said: `keeps ${left} of ${end} bytes, of which ${synced} were synced` };
    },
  };
}

function readAll(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : NO_BYTES;
}

/** Undefined: the file ends before. */
function readWords(file: number, at: number, bytes: number): Uint32Array | undefined {
  const words = new Uint32Array(bytes / 4);
  return readSync(file, words, 0, bytes, at) === bytes ? words : undefined;
}

/** The checksum of the log after this frame; undefined: SQLite would not accept the frame. */
function checkFrame(frame: Uint32Array, before: Checksum, salt: string): Checksum | undefined {
  if (String([frame[2], frame[3]]) !== salt) return undefined;
  const head = addWords(before, frame.subarray(0, FRAME_CHECKED_WORDS));
  const [first, second] = addWords(head, frame.subarray(FRAME_HEADER_BYTES / 4));
  return swapBytes(frame[4]!) === first && swapBytes(frame[5]!) === second ? [first, second] : undefined;
}

/** The checksum of SQLite's file format, for a log that a machine with little-endian words has written. */
function addWords(before: Checksum, words: Uint32Array): Checksum {
  let [first, second] = before;
  for (let at = 0; at < words.length; at += 2) {
    first = (first + words[at]! + second) >>> 0;
    second = (second + words[at + 1]! + first) >>> 0;
  }
  return [first, second];
}

function swapBytes(word: number): number {
  return ((word << 24) | ((word & 0xff00) << 8) | ((word >>> 8) & 0xff00) | (word >>> 24)) >>> 0;
}
