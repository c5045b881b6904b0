import { claim, FalseClaim } from './file-bytes.ts';
import type { FileBytes } from './file-bytes.ts';

/** Writers differ in the last chunk and the last time, by at most this number of samples. */
const SAMPLES_TOLERATED = 64;
/** QuickTime counts the decoded samples of compressed audio, and gives each a size of one. */
const AUDIO_SAMPLES_PER_BYTE = 64;
const AUDIO_SIZE = 1;
/** The bits of a size in the compact table. */
const FIELD_BITS: ReadonlySet<number> = new Set([4, 8, 16]);
/** The offset of the entry count after the header of a table, and the bytes of each entry. */
interface Layout {
  readonly countAt: number;
  readonly entryBytes: number;
}
const four = (entryBytes: number): Layout => ({ countAt: 4, entryBytes });
/** The layouts by name, for version 0. Layouts that depend on the version are below. */
const LAYOUTS: Readonly<Record<string, Layout>> = {
  stsd: four(8),
  stts: four(8),
  ctts: four(8),
  stsc: four(12),
  stco: four(4),
  co64: four(8),
  stss: four(4),
  stps: four(4),
  dref: four(8),
  elst: four(12),
  sbgp: { countAt: 8, entryBytes: 8 },
};
const LATER_LAYOUTS: Readonly<Record<string, Layout>> = { elst: four(20), sbgp: { countAt: 12, entryBytes: 8 } };

/** The tables of a track. The parser adds up two of a kind, so a track may have one of each. */
const OF_ONE_TRACK: Readonly<Record<string, string>> = {
  stsd: 'stsd',
  stts: 'stts',
  ctts: 'ctts',
  stsc: 'stsc',
  stsz: 'sizes',
  stz2: 'sizes',
  stco: 'chunks',
  co64: 'chunks',
  stss: 'stss',
};

/** The number of entries of a table and the position of the first. All of them must be in the table. */
export function readEntries(
  bytes: FileBytes,
  { name, start, end }: Box,
): { readonly count: number; readonly at: number } | undefined {
  const layout = (bytes.u8(start) > 0 ? LATER_LAYOUTS[name] : undefined) ?? LAYOUTS[name];
  if (layout === undefined) return undefined;
  const count = bytes.u32(start + layout.countAt);
  const at = start + layout.countAt + 4;
  claim(count * layout.entryBytes <= end - at, `has a table ${name} with more entries than bytes`);
  return { count, at };
}

/** The claims of one track's tables. They must agree with each other and with the size of the file. */
export class SampleTables {
  readonly #tables = new Map<string, Box>();
  readonly #bytes: FileBytes;

  constructor(bytes: FileBytes) {
    this.#bytes = bytes;
  }

  add(box: Box): void {
    readEntries(this.#bytes, box);
    const kind = OF_ONE_TRACK[box.name];
    if (kind === undefined) return;
    claim(!this.#tables.has(kind), `has two tables ${box.name} for one track`);
    this.#tables.set(kind, box);
  }

  check(handler: string): void {
    const samples = this.#checkSizes(handler === 'soun');
    const most = 2 * samples + SAMPLES_TOLERATED;
    for (const name of ['stts', 'ctts']) {
      claim(this.#sum(name, 8, (at) => this.#bytes.u32(at)) <= most, `has a table ${name} of more samples than exist`);
    }
    claim((this.#entries('stss')?.count ?? 0) <= most, 'has more key samples than samples');
    claim(this.#samplesInChunks() <= most, 'has chunks of more samples than exist');
  }

  /** Returns the number of samples. Together they are no larger than the file. */
  #checkSizes(isAudio: boolean): number {
    const table = this.#tables.get('sizes');
    if (table === undefined) return 0;
    if (table.name === 'stz2') return this.#checkCompactSizes(table);
    const size = this.#bytes.u32(table.start + 4);
    const count = this.#bytes.u32(table.start + 8);
    if (size > 0) {
      const perByte = isAudio && size === AUDIO_SIZE ? AUDIO_SAMPLES_PER_BYTE : 1;
      claim(count * size <= perByte * this.#bytes.size, 'has samples that are larger than the file');
      return count;
    }
    const first = table.start + 12;
    claim(4 * count <= table.end - first, 'has a table stsz with more entries than bytes');
    claim(
      this.#total(first, count, 4, (at) => this.#bytes.u32(at)) <= this.#bytes.size,
      'has samples that are larger than the file',
    );
    return count;
  }

  #checkCompactSizes({ start, end }: Box): number {
    const bits = this.#bytes.u8(start + 7);
    const count = this.#bytes.u32(start + 8);
    claim(FIELD_BITS.has(bits), 'has sizes of an invalid width');
    claim(count * bits <= 8 * (end - start - 12), 'has a table stz2 with more entries than bytes');
    return count;
  }

  #samplesInChunks(): number {
    const runs = this.#entries('stsc');
    const chunks = this.#entries('chunks')?.count ?? 0;
    if (runs === undefined) return 0;
    let samples = 0;
    for (let run = 0; run < runs.count; run += 1) {
      const at = runs.at + 12 * run;
      const first = this.#bytes.u32(at);
      const next = run + 1 < runs.count ? this.#bytes.u32(at + 12) : Math.max(first, chunks) + 1;
      claim(first >= 1 && next > first, 'has runs of chunks that are out of order');
      samples += (next - first) * this.#bytes.u32(at + 4);
    }
    return samples;
  }

  #entries(name: string): { readonly count: number; readonly at: number } | undefined {
    const table = this.#tables.get(name);
    return table === undefined ? undefined : readEntries(this.#bytes, table);
  }

  #sum(name: string, entryBytes: number, read: (at: number) => number): number {
    const entries = this.#entries(name);
    return entries === undefined ? 0 : this.#total(entries.at, entries.count, entryBytes, read);
  }

  #total(from: number, count: number, entryBytes: number, read: (at: number) => number): number {
    let sum = 0;
    for (let entry = 0; entry < count; entry += 1) sum += read(from + entryBytes * entry);
    return sum;
  }
}

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
