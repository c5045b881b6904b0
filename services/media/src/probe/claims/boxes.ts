import { FalseClaim } from './false-claim.ts';
import type { FileBytes } from './file-bytes.ts';

const HEAD_BYTES = 8;
const LARGE_HEAD_BYTES = 16;
/** The size that says that the real one stands behind the name. */
const LARGE = 1;
/** Of one file. A day of film in fragments of a second has about a million. */
const BOXES_MAX = 1_500_000;

/** A box of an MP4 or MOV: where it stands, and what is in it. */
export interface Box {
  readonly name: string;
  readonly at: number;
  /** Of its content. */
  readonly start: number;
  readonly end: number;
}

/** Reads the boxes of one file one after another, and counts them. */
export class BoxReader {
  readonly bytes: FileBytes;
  #boxes = 0;

  constructor(bytes: FileBytes) {
    this.bytes = bytes;
  }

  /** The boxes of a file, as far as there are boxes: bytes behind the last one that is whole are nobody's claim. */
  * atTop(): Generator<Box> {
    for (let at = 0; at + HEAD_BYTES <= this.bytes.size;) {
      const box = this.#head(at, this.bytes.size);
      if (box === undefined) return;
      yield box;
      at = box.end;
    }
  }

  /** The boxes in a box, each of which must end within it. A size of nothing ends the list, as QuickTime writes it. */
  * within({ start, end }: Pick<Box, 'start' | 'end'>): Generator<Box> {
    for (let at = start; at + HEAD_BYTES <= end;) {
      if (this.bytes.u32(at) === 0) return;
      const box = this.#head(at, end);
      if (box === undefined || box.end > end) throw new FalseClaim('has a box that ends behind the one that it is in');
      yield box;
      at = box.end;
    }
  }

  /** Undefined: no box begins there. */
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
