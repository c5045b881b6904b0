import { BoxReader } from './boxes.ts';
import type { Box } from './boxes.ts';
import { claim } from './false-claim.ts';
import type { FileBytes } from './file-bytes.ts';
import { MovieFragments } from './movie-fragments.ts';
import { SampleTables, readEntries } from './sample-tables.ts';

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
/** More than the tables of hours of video. The parser does not read more at once. */
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
  'mdia/hdlr': (movie, box) => {
    movie.readHandler(box);
  },
  'mvex/trex': ({ fragments }, box) => {
    fragments.addDefaults(box);
  },
  'traf/tfhd': ({ fragments }, box) => {
    fragments.beginTrack(box);
  },
  'traf/trun': ({ fragments }, box) => {
    fragments.addRun(box);
  },
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
