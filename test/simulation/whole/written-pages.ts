import type { Draws } from './draws.ts';

/** What the operating system writes at once, and what a disk never tears. */
const PAGE_BYTES = 4096;
const SECTOR_BYTES = 512;
const SECTORS = PAGE_BYTES / SECTOR_BYTES;
const WRITTEN = 0.5;
const TORN = 0.15;

export interface FileWrite {
  /** The file on the disk. */
  readonly before: Buffer;
  /** The file as it was written. Its length is the end of what was written. */
  readonly after: Buffer;
  /** The bytes before this place are on the disk as they were written. */
  readonly from: number;
}

/**
 * The file after a power cut: of the pages that differ, some have reached the disk, some have not, and some are torn
 * between two sectors. Pages that were never written are zeros.
 */
export function writeSomePages(draws: Draws, name: string, { before, after, from }: FileWrite): Buffer {
  const file = Buffer.alloc(Math.max(before.length, after.length));
  before.copy(file);
  after.copy(file, 0, 0, from);
  let length = Math.max(before.length, from);
  for (let at = from - (from % PAGE_BYTES); at < after.length; at += PAGE_BYTES) {
    const [begin, end] = [Math.max(at, from), Math.min(at + PAGE_BYTES, after.length)];
    if (end <= before.length && before.compare(after, begin, end, begin, end) === 0) continue;
    const until = Math.min(end, at + countSectors(draws, `${name} page ${at / PAGE_BYTES}`) * SECTOR_BYTES);
    if (until <= begin) continue;
    after.copy(file, begin, begin, until);
    length = Math.max(length, until);
  }
  return file.subarray(0, length);
}

/** The number of sectors of a page that have reached the disk. */
function countSectors(draws: Draws, name: string): number {
  const fate = draws.chance(name);
  if (fate < WRITTEN) return SECTORS;
  return fate < WRITTEN + TORN ? draws.whole(`${name} sectors`, 1, SECTORS - 1) : 0;
}
