import type { LevelScales } from './dequantisation.ts';
import type { CurrentMacroblock } from '../picture/frame.ts';
import type { Syntax } from '../entropy/syntax.ts';

/** The state of decoding a slice, with the quantisers of the current macroblock. */
export interface Decoding {
  readonly current: CurrentMacroblock;
  readonly syntax: Syntax;
  readonly scales: LevelScales;
  readonly transform8x8: boolean;
  readonly chromaQpOffsets: readonly [number, number];
  readonly chromaQps: [number, number];
  qp: number;
}

export function setQp(decoding: Decoding, qp: number): void {
  decoding.qp = qp;
  const [cb, cr] = decoding.chromaQpOffsets;
  decoding.chromaQps[0] = chromaQp(qp, cb);
  decoding.chromaQps[1] = chromaQp(qp, cr);
}

/** QPC of Table 8-15, from index 30. */
const HIGH = [29, 30, 31, 32, 32, 33, 34, 34, 35, 35, 36, 36, 37, 37, 37, 38, 38, 38, 39, 39, 39, 39];

export function chromaQp(qp: number, offset: number): number {
  const index = Math.min(51, Math.max(0, qp + offset));
  return HIGH[index - 30] ?? index;
}
