import type { FileBytes } from './file-bytes.ts';
import { FalseClaim } from './file-bytes.ts';

const ID_BYTES_MAX = 4;
const SIZE_BYTES_MAX = 8;
/** The maximum number of elements in one file. */
const ELEMENTS_MAX = 2_000_000;

/** An element of a WebM: its id and its content. */
export interface Element {
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
export function vintAt(bytes: FileBytes, at: number): Vint {
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
export class ElementReader {
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
