import { fstatSync, readSync } from 'node:fs';
import { FalseClaim } from './false-claim.ts';

const PAGE_BYTES = 4096;
/** Pages read of one file: far more than the tables and the heads of hours of film. */
const PAGES_MAX = 500_000;

/** A file that is read here and there, a page at a time. Reading behind its end is a false claim: something said that there is more. */
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

  /** Beyond 2^53 it is not exact, which is behind the end of every file. */
  u64(at: number): number {
    return this.u32(at) * 2 ** 32 + this.u32(at + 4);
  }

  u16le(at: number): number {
    return this.u8(at) + this.u8(at + 1) * 0x100;
  }

  u32le(at: number): number {
    return this.u16le(at) + this.u16le(at + 2) * 0x1_0000;
  }

  /** Four letters, as box and chunk names have them. */
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
