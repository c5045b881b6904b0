import { BoxReader, SampleTables, readEntries } from './sample-tables.ts';
import type { Box } from './sample-tables.ts';
import type { FileBytes } from './file-bytes.ts';
import { claim } from './file-bytes.ts';

/** The maximum number of samples in one run and in a file. Each is an object in the parser's memory. */
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

/** The boxes that hold boxes, each with its one parent. No other box is opened. */
const PARENTS: Readonly<Record<string, string>> = {
  moov: '',
  moof: '',
  mfra: '',
  trak: 'moov',
  mvex: 'moov',
  edts: 'trak',
  mdia: 'trak',
  minf: 'mdia',
  dinf: 'minf',
  stbl: 'minf',
  traf: 'moof',
};
const SIDX_COUNT_AT: Readonly<Record<number, number>> = { 0: 22, 1: 30 };
const SIDX_ENTRY_BYTES = 12;
/** The last word of a file: how far before the end the fragment index begins. */
const INDEX_SIZE_BYTES = 4;
const HANDLER_AT = 8;
/** More than the tables of hours of video. The parser does not read more at one time. */
export const MOVIE_BYTES_MAX = 8 * 1024 * 1024;

interface Track {
  readonly tables: SampleTables;
  handler: string;
}

/** Throws a `FalseClaim` if an MP4 or MOV claims more than it can hold. The parser is not called then. */
export function checkMovie(bytes: FileBytes): void {
  const movie = new MovieCheck(bytes);
  for (const box of movie.boxes.atTop()) {
    if (PARENTS[box.name] === '' || box.name === 'sidx') movie.open(box, '');
  }
  movie.checkIndexAtEnd();
}

type Leaf = (movie: MovieCheck, box: Box) => void;

/** The boxes that are checked, by the name of their parent and their own name. */
const LEAVES: Readonly<Record<string, Leaf>> = {
  'mdia/hdlr': (movie, box) => movie.readHandler(box),
  'mvex/trex': ({ fragments }, box) => fragments.addDefaults(box),
  'traf/tfhd': ({ fragments }, box) => fragments.beginTrack(box),
  'traf/trun': ({ fragments }, box) => fragments.addRun(box),
  'mfra/tfra': (movie, box) => {
    movie.indexes.push(box);
  },
  '/sidx': ({ boxes: { bytes } }, { start, end }) => {
    const countAt = start + (SIDX_COUNT_AT[bytes.u8(start)] ?? SIDX_COUNT_AT[1] ?? 0);
    claim(
      bytes.u16(countAt) * SIDX_ENTRY_BYTES <= end - countAt - 2,
      'has a segment index with more entries than bytes',
    );
  },
};

class MovieCheck {
  readonly boxes: BoxReader;
  readonly fragments: MovieFragments;
  readonly indexes: Box[] = [];
  #track: Track | undefined;

  constructor(bytes: FileBytes) {
    this.boxes = new BoxReader(bytes);
    this.fragments = new MovieFragments(bytes);
  }

  /** Visits every box of a container and its descendants. Each kind has one parent, so the depth is bounded. */
  open(box: Box, parent: string): void {
    const { name } = box;
    claim(box.end <= this.boxes.bytes.size, 'has a box that ends behind the file');
    const expected = PARENTS[name];
    if (expected === undefined) {
      this.#check(box, parent);
      return;
    }
    claim(expected === parent, `has a box ${name} in a wrong position`);
    this.#enter(box);
    for (const child of this.boxes.within(box)) this.open(child, name);
    if (name === 'trak') this.#track?.tables.check(this.#track.handler);
  }

  /** Checks the index at the end, because the parser follows the last word of the file to any position. */
  checkIndexAtEnd(): void {
    const { bytes } = this.boxes;
    const at = bytes.size - (bytes.size < INDEX_SIZE_BYTES ? 0 : bytes.u32(bytes.size - INDEX_SIZE_BYTES));
    const found = this.boxes.headAt(at);
    if (found?.name === 'mfra' && !this.indexes.some((index) => index.at > at && index.at < found.end))
      this.open(found, '');
    for (const index of this.indexes) this.fragments.checkIndex(index);
  }

  readHandler({ start }: Box): void {
    if (this.#track !== undefined) this.#track.handler = this.boxes.bytes.name(start + HANDLER_AT);
  }

  #enter(box: Box): void {
    if (box.name === 'moov') claim(box.end - box.start <= MOVIE_BYTES_MAX, 'has a movie box that is too large');
    if (box.name === 'trak') this.#track = { tables: new SampleTables(this.boxes.bytes), handler: '' };
    if (box.name === 'moof') this.fragments.begin(box);
  }

  #check(box: Box, parent: string): void {
    LEAVES[`${parent}/${box.name}`]?.(this, box);
    if (parent === 'stbl') this.#track?.tables.add(box);
    else readEntries(this.boxes.bytes, box);
  }
}

/** The claims of a movie's fragments. Together they must fit into the file. */
class MovieFragments {
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
