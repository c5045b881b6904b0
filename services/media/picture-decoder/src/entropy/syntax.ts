/** The syntax elements of a slice's macroblocks, in coded order. CAVLC and CABAC code the same elements. */
export interface Syntax {
  /** The levels of the last block, in scan order. The caller resets them to zero. */
  readonly levels: Int32Array;
  /** mb_type of Table 7-11. */
  readonly macroblockType: () => number;
  readonly transform8x8: () => boolean;
  /** rem_intra_pred_mode, or -1 for the predicted mode. */
  readonly mode: () => number;
  readonly chromaMode: () => number;
  /** Four bits of luma, above them 0 to 2 of chroma. */
  readonly pattern: () => number;
  readonly qpDelta: () => number;
  /** The samples of an I_PCM macroblock. */
  readonly samples: (count: number) => Uint8Array;
  /**
   * Reads a block into `levels` and returns the number of nonzero levels. `x` and `y` count 4x4 blocks in the
   * macroblock.
   */
  readonly block: (kind: number, plane: number, x: number, y: number) => number;
  /** Reports whether the last macroblock was the end of the slice. */
  readonly isSliceEnd: () => boolean;
}

/** The first scan position of each block kind, and its number of levels. */
export const FIRST_LEVEL: readonly number[] = [0, 1, 0, 0, 1, 0];
export const LEVEL_COUNT: readonly number[] = [16, 15, 16, 4, 15, 64];
