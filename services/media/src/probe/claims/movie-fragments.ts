import type { Box } from './boxes.ts';
import { claim } from './false-claim.ts';
import type { FileBytes } from './file-bytes.ts';

/** The most samples of one run and of a file. Each is an object in the parser's memory. */
const RUN_SAMPLES_MAX = 1_000_000;
const SAMPLES_MAX = 16_000_000;

/** Flags of a fragment header: the fields before the default size, and the default size. */
const HEAD_FIELDS: readonly (readonly [flag: number, bytes: number])[] = [
  [0x1, 8],
  [0x2, 4],
  [0x8, 4],
];
const HEAD_HAS_SIZE = 0x10;
/** In the flags of a run: fields of four bytes once, and for each sample. */
const RUN_ONCE = [0x1, 0x4];
const RUN_EACH = [0x100, 0x200, 0x400, 0x800];
const RUN_HAS_SIZES = 0x200;
/** Before the sizes in each sample. */
const RUN_HAS_DURATIONS = 0x100;
const WORD_BYTES = 4;

/** The claims of a movie's fragments. Together they must fit into the file. */
export class MovieFragments {
  readonly #bytes: FileBytes;
  readonly #defaultSizes = new Map<number, number>();
  readonly #starts = new Set<number>();
  #trackId = 0;
  #defaultSize = 0;
  #samples = 0;
  #sampleBytes = 0;

  constructor(bytes: FileBytes) {
    this.#bytes = bytes;
  }

  /** `trex` */
  addDefaults({ start }: Box): void {
    this.#defaultSizes.set(this.#bytes.u32(start + 4), this.#bytes.u32(start + 16));
  }

  /** `moof` */
  begin({ at }: Box): void {
    this.#starts.add(at);
  }

  /** `tfhd` */
  beginTrack({ start }: Box): void {
    const flags = this.#bytes.u24(start + 1);
    this.#trackId = this.#bytes.u32(start + 4);
    const before = HEAD_FIELDS.reduce((sum, [flag, size]) => sum + ((flags & flag) === 0 ? 0 : size), 0);
    this.#defaultSize =
      (flags & HEAD_HAS_SIZE) === 0
        ? (this.#defaultSizes.get(this.#trackId) ?? 0)
        : this.#bytes.u32(start + 8 + before);
  }

  /** `trun` */
  addRun({ start, end }: Box): void {
    const flags = this.#bytes.u24(start + 1);
    const count = this.#bytes.u32(start + 4);
    const first = start + 8 + WORD_BYTES * RUN_ONCE.filter((flag) => (flags & flag) !== 0).length;
    const each = WORD_BYTES * RUN_EACH.filter((flag) => (flags & flag) !== 0).length;
    claim(count * each <= end - first, 'has a run of more samples than bytes');
    claim(count <= RUN_SAMPLES_MAX, 'has a run of too many samples');
    this.#samples += count;
    claim(this.#samples <= Math.min(SAMPLES_MAX, this.#bytes.size), 'has fragments of more samples than bytes');
    this.#sampleBytes +=
      (flags & RUN_HAS_SIZES) === 0
        ? this.#sizeOfEqual(count)
        : this.#sizeOfEach(first + ((flags & RUN_HAS_DURATIONS) === 0 ? 0 : WORD_BYTES), count, each);
    claim(this.#sampleBytes <= this.#bytes.size, 'has fragments that are larger than the file');
  }

  /** `tfra`, which the parser follows. It must point to fragments, with at most one entry for each. */
  checkIndex({ start, end }: Box): void {
    const isLong = this.#bytes.u8(start) === 1;
    const widths = this.#bytes.u8(start + 11);
    const count = this.#bytes.u32(start + 12);
    const each = (isLong ? 16 : 8) + 3 + ((widths >> 4) & 3) + ((widths >> 2) & 3) + (widths & 3);
    claim(count * each <= end - start - 16, 'has an index with more entries than bytes');
    claim(count <= this.#starts.size, 'has an index of more fragments than exist');
    for (let at = start + 16; at < start + 16 + count * each; at += each) {
      claim(
        this.#starts.has(isLong ? this.#bytes.u64(at + 8) : this.#bytes.u32(at + 4)),
        'has an index of missing fragments',
      );
    }
  }

  #sizeOfEqual(count: number): number {
    claim(count === 0 || this.#defaultSize > 0, 'has samples of no bytes');
    return count * this.#defaultSize;
  }

  #sizeOfEach(from: number, count: number, each: number): number {
    let sum = 0;
    for (let sample = 0; sample < count; sample += 1) sum += this.#bytes.u32(from + each * sample);
    return sum;
  }
}
