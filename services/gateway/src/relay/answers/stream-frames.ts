const [LF, CR] = [0x0a, 0x0d];
/** A longer frame passes as it arrives, and is not parsed. */
export const FRAME_BYTES_MAX = 1024 * 1024;

type OnPiece = (piece: Buffer, endsFrame: boolean) => void;

/**
 * Splits a stream into complete frames, each with the blank line after it. A frame that is too long to be held passes
 * in pieces.
 */
export interface FrameSplitter {
  /** Calls back in the order of the bytes. No byte is lost or changed. */
  take(chunk: Buffer, onFrame: (frame: Buffer) => void, onPiece: OnPiece): void;
  /** The rest of a stream that has ended: a frame without its blank line. */
  rest(): Buffer;
  /** Reports whether the last byte that was handed out ended a frame. */
  isBetween(): boolean;
}

export function frameSplitter(): FrameSplitter {
  let held: Buffer[] = [];
  let heldBytes = 0;
  /** True while the current frame is too long to be held. */
  let passing = false;
  const lines = lineReader();

  const give = (piece: Buffer, onFrame: (frame: Buffer) => void, onPiece: OnPiece): void => {
    if (passing) onPiece(piece, true);
    else onFrame(heldBytes === 0 ? piece : Buffer.concat([...held, piece]));
    held = [];
    heldBytes = 0;
    passing = false;
  };
  const hold = (piece: Buffer, onPiece: OnPiece): void => {
    if (piece.length === 0) return;
    if (!passing && heldBytes + piece.length <= FRAME_BYTES_MAX) {
      held.push(piece);
      heldBytes += piece.length;
      return;
    }
    for (const earlier of held) onPiece(earlier, false);
    held = [];
    heldBytes = 0;
    passing = true;
    onPiece(piece, false);
  };
  return {
    take: (chunk, onFrame, onPiece) => {
      let from = 0;
      for (let end = lines.endOfFrame(chunk, 0); end > 0; end = lines.endOfFrame(chunk, end)) {
        give(chunk.subarray(from, end), onFrame, onPiece);
        from = end;
      }
      hold(chunk.subarray(from), onPiece);
    },
    rest: () => {
      const left = Buffer.concat(held);
      held = [];
      heldBytes = 0;
      return left;
    },
    isBetween: () => !passing,
  };
}

/** Reads to the end of the next blank line. Returns the position after it, or 0 if the chunk ends first. */
function lineReader(): { endOfFrame(chunk: Buffer, from: number): number } {
  let state: LineState = 'text';
  return {
    endOfFrame: (chunk, from) => {
      let at = from;
      while (at < chunk.length) {
        if (state === 'text') at = nextBreak(chunk, at);
        if (at === chunk.length) return 0;
        state = AFTER[state](chunk[at] ?? 0);
        at += 1;
        if (state !== 'end') continue;
        state = 'text';
        // a line feed that completes this line break belongs to the frame if it is in the same chunk
        return chunk[at - 1] === CR && chunk[at] === LF ? at + 1 : at;
      }
      return 0;
    },
  };
}

/** The state of a stream within its lines. A blank line ends a frame, with any kind of line break. */
type LineState = 'text' | 'broken' | 'broken_cr' | 'end';

const afterBreak = (byte: number): LineState => (byte === LF || byte === CR ? 'end' : 'text');
const afterCr = (byte: number): LineState => {
  if (byte === LF) return 'broken';
  return byte === CR ? 'end' : 'text';
};
const inText = (byte: number): LineState => {
  if (byte === LF) return 'broken';
  return byte === CR ? 'broken_cr' : 'text';
};

const AFTER: Readonly<Record<LineState, (byte: number) => LineState>> = {
  text: inText,
  broken: afterBreak,
  broken_cr: afterCr,
  end: inText,
};

/** Returns the position of the next line break, or the end if there is none. */
function nextBreak(chunk: Buffer, from: number): number {
  const lf = chunk.indexOf(LF, from);
  const end = lf < 0 ? chunk.length : lf;
  const cr = chunk.subarray(from, end).indexOf(CR);
  return cr < 0 ? end : from + cr;
}
