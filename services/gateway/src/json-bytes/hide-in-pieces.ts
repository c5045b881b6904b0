import type { ModelHider } from './hide-model.ts';

/** Longer than any member that names a model. This many bytes are held back and read again with the next piece. */
const OVERLAP_BYTES = 4096;

/** Hides a model in bytes that arrive in pieces. It holds back the last bytes of each piece. */
export interface PieceHider {
  take(piece: Buffer): Buffer;
  /** The bytes that are held back. */
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
