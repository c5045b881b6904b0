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
const LOG_NAME = /-wal$/;
/**
 * The words of the index beside a log, for a machine with little-endian words: whether it is initialized, with the size
 * of a page in its upper half; the last frame of a commit; the salt. https://sqlite.org/walformat.html, section 2.1
 */
const INDEX_BYTES = 48;
const INDEX_INITIALIZED = 3;
const INDEX_FRAMES = 4;
const INDEX_SALT = 8;

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
  close(): void;
}

export interface CutOptions {
  readonly draws: Draws;
  /** True if the pages after the synced bytes can reach the disk in any order. */
  readonly isScattered: boolean;
}

/**
 * `locate` gives the file: a process that was killed leaves it to the next one in another folder. `left`: the bytes
 * that a power cut has left, which are all there is. The first call of `findEnd` comes before a process writes: then
 * SQLite knows which commits are whole, and no scan is needed.
 */
export function openSimulatedLog(locate: () => string, left?: Buffer): SimulatedLog {
  let place: LogPlace = { salt: '', end: 0 };
  let synced = 0;
  /** All of its bytes are on the disk, and SQLite decides how many of them count. */
  let isLeftByPowerCut = left !== undefined;
  /** What the disk has where the bytes of the file are not synced. */
  let durable = left ?? readAll(locate());
  const index = openIndex();
  const findEnd = (): LogPlace => {
    const file = locate();
    const found = index.read(file) ?? scanLog(file);
    if (found === undefined) return place;
    // SQLite syncs the header before it writes a frame
    if (found.salt !== place.salt) synced = HEADER_BYTES;
    place = found;
    if (isLeftByPowerCut) [synced, isLeftByPowerCut] = [place.end, false];
    return place;
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
    close: index.close,
  };
}

interface LogIndex {
  /**
   * The place that the index of an open database has: SQLite writes it there at the end of each commit. Undefined: no
   * process has opened the database since the last crash, or the log has no commit.
   */
  read(file: string): LogPlace | undefined;
  close(): void;
}

/** Keeps the index open: it stays the same file as long as a process has the database. */
function openIndex(): LogIndex {
  let known: { readonly file: string; readonly opened: number } | undefined;
  const close = (): void => {
    if (known !== undefined) closeSync(known.opened);
    known = undefined;
  };
  return {
    read: (file) => {
      if (known?.file !== file) {
        close();
        const opened = openExisting(file.replace(LOG_NAME, '-shm'));
        if (opened === undefined) return undefined;
        known = { file, opened };
      }
      return readPlace(readWords(known.opened, 0, INDEX_BYTES));
    },
    close,
  };
}

function readPlace(words: Uint32Array | undefined): LogPlace | undefined {
  if (words === undefined || words[INDEX_INITIALIZED]! % 256 === 0 || words[INDEX_FRAMES] === 0) return undefined;
  const pageBytes = words[INDEX_INITIALIZED]! >>> 16;
  const end = HEADER_BYTES + words[INDEX_FRAMES]! * (FRAME_HEADER_BYTES + pageBytes);
  return { salt: String([words[INDEX_SALT], words[INDEX_SALT + 1]]), end };
}

/** The end of the last commit whose frames SQLite would accept. Undefined: the log has not begun. */
function scanLog(file: string): LogPlace | undefined {
  const log = openExisting(file);
  if (log === undefined) return undefined;
  try {
    const header = readWords(log, 0, HEADER_BYTES);
    if (header === undefined) return undefined;
    const salt = String([header[SALT_AT / 4], header[SALT_AT / 4 + 1]]);
    const pageBytes = swapBytes(header[2]!);
    let place: LogPlace = { salt, end: HEADER_BYTES };
    let [next, at] = [addWords([0, 0], header.subarray(0, CHECKED_WORDS)), HEADER_BYTES];
    for (;;) {
      const frame = readWords(log, at, FRAME_HEADER_BYTES + pageBytes);
      const checked = frame === undefined ? undefined : checkFrame(frame, next, salt);
      if (frame === undefined || checked === undefined) return place;
      [next, at] = [checked, at + FRAME_HEADER_BYTES + pageBytes];
      // the last frame of a commit has the size of the database; SQLite overwrites frames without a commit
      if (frame[1] !== 0) place = { salt, end: at };
    }
  } finally {
    closeSync(log);
  }
}

function readAll(file: string): Buffer {
  return existsSync(file) ? readFileSync(file) : NO_BYTES;
}

function openExisting(file: string): number | undefined {
  try {
    return openSync(file, 'r');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return undefined;
  }
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
