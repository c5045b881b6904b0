const [QUOTE, BACKSLASH, OPEN, CLOSE, OPEN_LIST, CLOSE_LIST, COMMA] = [0x22, 0x5c, 0x7b, 0x7d, 0x5b, 0x5d, 0x2c];

/** Receives the parts of a JSON list in the order of their bytes. */
export interface ListReader {
  /** Brackets, commas and space around the elements. */
  readonly onBetween: (bytes: Buffer) => void;
  readonly onElement: (element: Buffer) => void;
  /** A piece of an element that is too long to be held. */
  readonly onPiece: (piece: Buffer, endsElement: boolean) => void;
}

/** Splits a list of JSON objects that arrives in pieces into its elements. No byte is lost or changed. */
export interface ListElements {
  take(chunk: Buffer, reader: ListReader): void;
  /** The held bytes of an unfinished element. */
  rest(): Buffer;
  position(): ListPosition;
}

/** The position of the next byte. No part of a held element has been handed out; a part of a passing element has. */
export type ListPosition = Between | 'in_held_element' | 'in_passing_element';

type Between = 'before' | 'opened' | 'behind_element' | 'behind_comma' | 'closed';
const MARKS: Readonly<Record<number, Between>> = {
  [OPEN_LIST]: 'opened',
  [COMMA]: 'behind_comma',
  [CLOSE_LIST]: 'closed',
};

/** An element of more than `heldBytesMax` passes in pieces. */
export function listElements(heldBytesMax: number): ListElements {
  const scan = newObjectScanner();
  let between: Between = 'before';
  let held: Buffer[] = [];
  let heldBytes = 0;
  let within: 'no' | 'held' | 'passing' = 'no';

  const finish = (piece: Buffer, { onElement, onPiece }: ListReader): void => {
    if (within === 'passing') onPiece(piece, true);
    else onElement(heldBytes === 0 ? piece : Buffer.concat([...held, piece]));
    [held, heldBytes, within, between] = [[], 0, 'no', 'behind_element'];
  };
  const hold = (piece: Buffer, { onPiece }: ListReader): void => {
    if (within !== 'passing' && heldBytes + piece.length <= heldBytesMax) {
      held.push(piece);
      heldBytes += piece.length;
      within = 'held';
      return;
    }
    for (const earlier of [...held, piece]) onPiece(earlier, false);
    [held, heldBytes, within] = [[], 0, 'passing'];
  };
  /** Reads up to the next element. */
  const skip = (chunk: Buffer, from: number, { onBetween }: ListReader): number => {
    const open = chunk.indexOf(OPEN, from);
    const end = open < 0 ? chunk.length : open;
    for (let at = from; at < end; at += 1) between = MARKS[chunk[at] ?? 0] ?? between;
    if (end > from) onBetween(chunk.subarray(from, end));
    return end;
  };
  return {
    take: (chunk, reader) => {
      let at = 0;
      while (at < chunk.length) {
        if (within === 'no') at = skip(chunk, at, reader);
        if (at === chunk.length) return;
        const end = scan(chunk, at);
        if (end === 0) return hold(chunk.subarray(at), reader);
        finish(chunk.subarray(at, end), reader);
        at = end;
      }
    },
    rest: () => {
      const left = Buffer.concat(held);
      [held, heldBytes] = [[], 0];
      return left;
    },
    position: () => (within === 'no' ? between : `in_${within}_element`),
  };
}

/** Reads to the end of the current object. Returns the position after it, or 0 if the chunk ends first. */
function newObjectScanner(): (chunk: Buffer, from: number) => number {
  let depth = 0;
  let inText = false;
  let isEscaped = false;
  return (chunk, from) => {
    for (let at = from; at < chunk.length; at += 1) {
      const byte = chunk[at];
      if (isEscaped) isEscaped = false;
      else if (byte === QUOTE) inText = !inText;
      else if (inText) isEscaped = byte === BACKSLASH;
      else if (byte === OPEN) depth += 1;
      else if (byte === CLOSE) depth -= 1;
      if (depth === 0) return at + 1;
    }
    return 0;
  };
}
