import type { FileBytes } from './file-bytes.ts';
import { FalseClaim } from './file-bytes.ts';

const HEAD_BYTES = 8;
const LARGE_HEAD_BYTES = 16;
/** This size means that the real size follows the name. */
const LARGE = 1;
/** The maximum number of boxes in one file. A day of film in fragments of one second has about a million. */
const BOXES_MAX = 1_500_000;

/** A box of an MP4 or MOV: its position and its content. */
export interface Box {
  readonly name: string;
  readonly at: number;
  /** The start of the content. */
  readonly start: number;
  readonly end: number;
}

/** Reads and counts the boxes of one file. */
export class BoxReader {
  readonly bytes: FileBytes;
  #boxes = 0;

  constructor(bytes: FileBytes) {
    this.bytes = bytes;
  }

  /** The top-level boxes of a file. Bytes after the last complete box belong to no box, and are not checked. */
  *atTop(): Generator<Box> {
    for (let at = 0; at + HEAD_BYTES <= this.bytes.size;) {
      const box = this.#head(at, this.bytes.size);
      if (box === undefined) return;
      yield box;
      at = box.end;
    }
  }

  /** The boxes in a box. Each must end within it. A size of zero ends the list, as QuickTime writes it. */
  *within({ start, end }: Box): Generator<Box> {
    for (let at = start; at + HEAD_BYTES <= end;) {
      if (this.bytes.u32(at) === 0) return;
      const box = this.#head(at, end);
      if (box === undefined || box.end > end) throw new FalseClaim('has a box that ends behind its parent');
      yield box;
      at = box.end;
    }
  }

  /** Returns the box that begins at `at`, or undefined if no box begins there. */
  headAt(at: number): Box | undefined {
    return at < 0 || at + LARGE_HEAD_BYTES > this.bytes.size ? undefined : this.#head(at, this.bytes.size);
  }

  #head(at: number, end: number): Box | undefined {
    this.#boxes += 1;
    if (this.#boxes > BOXES_MAX) throw new FalseClaim('has too many boxes');
    const short = this.bytes.u32(at);
    const name = this.bytes.name(at + 4);
    const isLarge = short === LARGE;
    if (isLarge && at + LARGE_HEAD_BYTES > end) return undefined;
    const headBytes = isLarge ? LARGE_HEAD_BYTES : HEAD_BYTES;
    const size = isLarge ? this.bytes.u64(at + HEAD_BYTES) : short;
    return size < headBytes ? undefined : { name, at, start: at + headBytes, end: at + size };
  }
}
