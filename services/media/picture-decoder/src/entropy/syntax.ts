/**
 * What a slice says about its macroblocks, in the order in which it does; CAVLC and CABAC write the same things
 * differently.
 */
export interface Syntax {
  /** The levels of the block read last, in the order of its scan; who takes them puts zeros back. */
  readonly levels: Int32Array;
  /** mb_type of Table 7-11. */
  readonly macroblockType: () => number;
  readonly largeTransform: () => boolean;
  /** A prediction mode without the predicted one among them; -1 for that. */
  readonly mode: () => number;
  readonly chromaMode: () => number;
  /** Four bits of luma, above them 0 to 2 of chroma. */
  readonly pattern: () => number;
  readonly qpDelta: () => number;
  /** The samples of a macroblock that is not coded. */
  readonly samples: (count: number) => Uint8Array;
  /**
   * Reads a block into `levels` and says how many are not zero. Its place is in blocks of 4x4 within the macroblock.
   */
  readonly block: (kind: number, plane: number, x: number, y: number) => number;
  /** Whether the macroblock just read was the slice's last. */
  readonly ended: () => boolean;
}

/** Where the levels of a kind begin in its scan, and how many there are. */
export const FIRST_LEVEL: readonly number[] = [0, 1, 0, 0, 1, 0];
export const LEVEL_COUNT: readonly number[] = [16, 15, 16, 4, 15, 64];
