import { fstatSync, readSync } from 'node:fs';

/** A file claims more content than it can hold. */
export class FalseClaim extends Error {
  override readonly name = 'FalseClaim';
}

export function claim(holds: boolean, what: string): void {
  if (!holds) throw new FalseClaim(what);
}

const PAGE_BYTES = 4096;
/** The maximum number of pages of one file, far above the tables and headers of hours of video. */
const PAGES_MAX = 500_000;

/** Reads a file page by page, at any position. A position beyond the end is a false claim. */
export class FileBytes {
  readonly size: number;
  readonly #descriptor: number;
  readonly #page = Buffer.alloc(PAGE_BYTES);
  #pageStart = -1;
  #pagesRead = 0;

  constructor(descriptor: number) {
    this.#descriptor = descriptor;
    this.size = fstatSync(descriptor).size;
  }

  u8(at: number): number {
    if (at < 0 || at >= this.size) throw new FalseClaim('reaches behind the end of the file');
    const start = at - (at % PAGE_BYTES);
    if (start !== this.#pageStart) this.#read(start);
    return this.#page[at - start] ?? 0;
  }

  u16(at: number): number {
    return this.u8(at) * 0x100 + this.u8(at + 1);
  }

  u24(at: number): number {
    return this.u16(at) * 0x100 + this.u8(at + 2);
  }

  u32(at: number): number {
    return this.u16(at) * 0x1_0000 + this.u16(at + 2);
  }

  /** Not exact beyond 2^53, which is beyond the end of every file. */
  u64(at: number): number {
    return this.u32(at) * 2 ** 32 + this.u32(at + 4);
  }

  u16le(at: number): number {
    return this.u8(at) + this.u8(at + 1) * 0x100;
  }

  u32le(at: number): number {
    return this.u16le(at) + this.u16le(at + 2) * 0x1_0000;
  }

  /** The four letters of a box or chunk name. */
  name(at: number): string {
    return String.fromCharCode(this.u8(at), this.u8(at + 1), this.u8(at + 2), this.u8(at + 3));
  }

  #read(start: number): void {
    this.#pagesRead += 1;
    if (this.#pagesRead > PAGES_MAX) throw new FalseClaim('has too many parts');
    readSync(this.#descriptor, this.#page, 0, PAGE_BYTES, start);
    this.#pageStart = start;
  }
}
