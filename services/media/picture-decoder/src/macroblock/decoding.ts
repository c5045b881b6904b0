import { chromaQp } from './chroma-qp.ts';
import type { LevelScales } from './dequantisation.ts';
import type { Place } from '../picture/frame.ts';
import type { Syntax } from '../entropy/syntax.ts';

/** What decoding a macroblock takes, and the quantisers that hold for it. */
export interface Decoding {
  readonly place: Place;
  readonly syntax: Syntax;
  readonly scales: LevelScales;
  readonly largeTransform: boolean;
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
