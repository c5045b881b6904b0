import type { ModelHider } from './hide-model.ts';

/** More than any member that names a model takes: it is looked at again with what follows. */
const OVERLAP_BYTES = 4096;

/** Hides a model in bytes that come in pieces, and holds back the end of what came. */
export interface PieceHider {
  take(piece: Buffer): Buffer;
  /** What is held back. */
  rest(): Buffer;
}

export function hideInPieces(hider: ModelHider): PieceHider {
  let back: Buffer = Buffer.alloc(0);
  return {
    take: (piece) => {
      const hidden = hider.hide(Buffer.concat([back, piece]));
      const ready = Math.max(0, hidden.length - OVERLAP_BYTES);
      back = hidden.subarray(ready);
      return hidden.subarray(0, ready);
    },
    rest: () => {
      const left = back;
      back = Buffer.alloc(0);
      return left;
    },
  };
}
