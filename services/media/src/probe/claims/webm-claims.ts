import { claim, FalseClaim } from './file-bytes.ts';
import type { FileBytes } from './file-bytes.ts';

const SEGMENT = 0x18538067;
const CLUSTER = 0x1f43b675;
const CUES = 0x1c53bb6b;
const CUE_POINT = 0xbb;
const CUE_POSITIONS = 0xb7;
const CUE_CLUSTER_AT = 0xf1;
const SIMPLE_BLOCK = 0xa3;
const BLOCK_GROUP = 0xa0;
const BLOCK = 0xa1;
/** The children of a segment, which also end a cluster of unknown length. */
const IN_SEGMENT: ReadonlySet<number> = new Set([
  0x1a45dfa3,
  0x114d9b74,
  0x1549a966,
  CLUSTER,
  0x1654ae6b,
  CUES,
  0x1941a469,
  0x1043a770,
  0x1254c367,
]);
/** More than the index of hours of video. */
const PART_BYTES_MAX = 8 * 1024 * 1024;
const UINT_BYTES_MAX = 8;
/** The bytes between the track number and the end of the flags: a time of two bytes, and the flags. */
const BLOCK_TIME_BYTES = 2;

type Known = Element & { readonly end: number };

/** Throws a `FalseClaim` if a WebM claims more than it can hold. */
export function checkWebm(bytes: FileBytes): void {
  const reader = new ElementReader(bytes);
  for (let at = 0; at < bytes.size;) {
    const element = reader.at(at);
    const end = Math.min(element.end ?? bytes.size, bytes.size);
    if (element.id === SEGMENT) checkSegment(reader, { ...element, end });
    at = end;
  }
}

function checkSegment(reader: ElementReader, segment: Known): void {
  for (let at = segment.start; at < segment.end;) {
    const element = reader.at(at);
    claim(element.id !== SEGMENT, 'has a segment in a segment');
    if (element.id === CLUSTER) {
      at = checkCluster(reader, element, segment.end);
      continue;
    }
    claim(element.end !== undefined && element.end <= segment.end, 'has an element that ends behind its segment');
    const known = { ...element, end: element.end ?? segment.end };
    if (IN_SEGMENT.has(element.id)) claim(known.end - known.start <= PART_BYTES_MAX, 'has an index that is too large');
    if (element.id === CUES) checkCues(reader, known, segment.start);
    at = known.end;
  }
}

/**
 * The end of a cluster. One of unknown length ends where the next child of the segment begins. The last one can be
 * truncated.
 */
function checkCluster(reader: ElementReader, cluster: Element, segmentEnd: number): number {
  const end = Math.min(cluster.end ?? segmentEnd, segmentEnd);
  for (let at = cluster.start; at < end;) {
    const element = reader.at(at);
    if (cluster.end === undefined && IN_SEGMENT.has(element.id)) return at;
    claim(element.end !== undefined, 'has a block without an end');
    const known = { ...element, end: element.end ?? end };
    if (known.end > end) {
      claim(end === reader.bytes.size, 'has a block that ends behind its cluster');
      return end;
    }
    checkBlocks(reader, known);
    at = known.end;
  }
  return end;
}

function checkBlocks(reader: ElementReader, element: Known): void {
  if (element.id === SIMPLE_BLOCK || element.id === BLOCK) checkLacing(reader.bytes, element);
  if (element.id !== BLOCK_GROUP) return;
  for (const part of reader.within(element)) if (part.id === BLOCK) checkLacing(reader.bytes, part);
}

/**
 * Each function returns the bytes of sizes and frames of a block. Two bits of the block's flags select no lacing or one
 * of three kinds.
 */
const LACINGS: readonly (((bytes: FileBytes, at: number, frames: number) => number) | undefined)[] = [
  undefined,
  (bytes, at, frames) => {
    let [taken, sum] = [0, 0];
    for (let frame = 1; frame < frames; taken += 1) {
      const byte = bytes.u8(at + taken);
      sum += byte;
      if (byte < 0xff) frame += 1;
    }
    return taken + sum;
  },
  (_bytes, _at, frames) => frames,
  (bytes, at, frames) => {
    let { value: size, length: taken } = vintAt(bytes, at);
    let sum = size;
    for (let frame = 2; frame < frames; frame += 1) {
      const change = vintAt(bytes, at + taken);
      size += change.value - (2 ** (7 * change.length - 1) - 1);
      taken += change.length;
      claim(size >= 0, 'has a frame of negative size');
      sum += size;
    }
    return taken + sum;
  },
];

function checkLacing(bytes: FileBytes, { start, end }: Known): void {
  const flagsAt = start + vintAt(bytes, start).length + BLOCK_TIME_BYTES;
  claim(flagsAt < end, 'has a block without a header');
  const lacing = LACINGS[(bytes.u8(flagsAt) >> 1) & 3];
  if (lacing === undefined) return;
  claim(flagsAt + 1 < end, 'has a block without its number of frames');
  const frames = bytes.u8(flagsAt + 1) + 1;
  const left = end - flagsAt - 2;
  claim(
    frames <= left && (frames === 1 || lacing(bytes, flagsAt + 2, frames) <= left),
    'has a block of more frames than bytes',
  );
}

function checkCues(reader: ElementReader, cues: Known, segmentStart: number): void {
  for (const point of reader.within(cues)) {
    if (point.id !== CUE_POINT) continue;
    for (const positions of reader.within(point)) {
      if (positions.id === CUE_POSITIONS) checkCuePositions(reader, positions, segmentStart);
    }
  }
}

function checkCuePositions(reader: ElementReader, positions: Known, segmentStart: number): void {
  for (const field of reader.within(positions)) {
    if (field.id === CUE_CLUSTER_AT)
      claim(segmentStart + uint(reader.bytes, field) < reader.bytes.size, 'has an index of missing clusters');
  }
}

function uint(bytes: FileBytes, { start, end }: Known): number {
  claim(end - start <= UINT_BYTES_MAX, 'has a number that is too long');
  let value = 0;
  for (let at = start; at < end; at += 1) value = value * 0x100 + bytes.u8(at);
  return value;
}

const ID_BYTES_MAX = 4;
const SIZE_BYTES_MAX = 8;
/** The maximum number of elements in one file. */
const ELEMENTS_MAX = 2_000_000;

/** An element of a WebM: its id and its content. */
interface Element {
  readonly id: number;
  readonly start: number;
  /** Undefined if the element ends before the first element that it cannot contain. */
  readonly end: number | undefined;
}

interface Vint {
  readonly value: number;
  readonly length: number;
  readonly isUnknown: boolean;
}

/** Reads a number. Its first set bit gives its length in bytes and is removed. */
function vintAt(bytes: FileBytes, at: number): Vint {
  const first = bytes.u8(at);
  const length = Math.clz32(first) - 23;
  if (length > SIZE_BYTES_MAX) throw new FalseClaim('has a number without a length');
  let value = first - 2 ** (8 - length);
  let isUnknown = value === 2 ** (8 - length) - 1;
  for (let next = 1; next < length; next += 1) {
    const byte = bytes.u8(at + next);
    value = value * 0x100 + byte;
    isUnknown &&= byte === 0xff;
  }
  return { value, length, isUnknown };
}

/** Reads and counts the element headers of one file. */
class ElementReader {
  readonly bytes: FileBytes;
  #elements = 0;

  constructor(bytes: FileBytes) {
    this.bytes = bytes;
  }

  at(position: number): Element {
    this.#elements += 1;
    if (this.#elements > ELEMENTS_MAX) throw new FalseClaim('has too many elements');
    const idLength = Math.clz32(this.bytes.u8(position)) - 23;
    if (idLength > ID_BYTES_MAX) throw new FalseClaim('has an element without a kind');
    let id = 0;
    for (let next = 0; next < idLength; next += 1) id = id * 0x100 + this.bytes.u8(position + next);
    const size = vintAt(this.bytes, position + idLength);
    const start = position + idLength + size.length;
    return { id, start, end: size.isUnknown ? undefined : start + size.value };
  }

  /** Iterates over the elements in an element of known length. Each must end within it. */
  *within({
    start,
    end,
  }: {
    readonly start: number;
    readonly end: number;
  }): Generator<Element & { readonly end: number }> {
    for (let position = start; position < end;) {
      const element = this.at(position);
      if (element.end === undefined || element.end > end)
        throw new FalseClaim('has an element that ends behind its parent');
      yield { ...element, end: element.end };
      position = element.end;
    }
  }
}
