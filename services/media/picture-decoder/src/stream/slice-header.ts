import { readBits, readFlag, readSigned, readUnsigned } from './bits.ts';
import type { Bits } from './bits.ts';
import { refuse, within } from '../refusal.ts';
import type { PictureParameters } from './picture-parameters.ts';

const INTRA_TYPES: ReadonlySet<number> = new Set([2, 7]);
const MARKS_MAX = 64;
/** The count of numbers after each memory_management_control_operation (7.3.3.3). */
const MARK_NUMBERS: readonly number[] = [0, 1, 1, 2, 1, 0, 1];

/** The parameters of the deblocking filter of a slice. */
export interface EdgeFilter {
  /** disable_deblocking_filter_idc: 0 filters all edges, 1 filters no edge, 2 filters the edges within the slice. */
  readonly mode: number;
  readonly alphaOffset: number;
  readonly betaOffset: number;
}

export interface SliceHeader {
  readonly parameters: PictureParameters;
  readonly first: number;
  readonly qp: number;
  readonly filter: EdgeFilter;
}

/** Properties of the NAL unit of a slice. */
export interface SliceUnit {
  readonly key: boolean;
  readonly referenced: boolean;
}

/** Reads the header of an intra slice. Returns undefined if the slice is redundant. */
export function readSliceHeader(
  bits: Bits,
  unit: SliceUnit,
  parametersOf: (id: number) => PictureParameters,
): SliceHeader | undefined {
  const first = readUnsigned(bits);
  if (!INTRA_TYPES.has(readUnsigned(bits))) refuse('unsupported', 'not an intra slice');
  const parameters = parametersOf(readUnsigned(bits));
  readBits(bits, parameters.sequence.frameNumberBits);
  if (!parameters.sequence.framesOnly && readFlag(bits)) refuse('unsupported', 'a field');
  if (unit.key) readUnsigned(bits);
  readOrder(bits, parameters);
  if (parameters.redundant && readUnsigned(bits) > 0) return undefined;
  if (unit.referenced) readMarks(bits, unit.key);
  const qp = within(parameters.qp + readSigned(bits), 0, 51);
  return { parameters, first, qp, filter: readFilter(bits, parameters) };
}

function readOrder(bits: Bits, { sequence, bottomOrder }: PictureParameters): void {
  readBits(bits, sequence.orderBits);
  const numbers =
    (sequence.orderDeltas ? 1 : 0) + (bottomOrder && (sequence.orderType === 0 || sequence.orderDeltas) ? 1 : 0);
  for (let index = 0; index < numbers; index += 1) readSigned(bits);
}

function readMarks(bits: Bits, key: boolean): void {
  if (key) {
    readBits(bits, 2);
    return;
  }
  if (!readFlag(bits)) return;
  for (let count = 0; count < MARKS_MAX; count += 1) {
    const mark = readUnsigned(bits);
    if (mark === 0) return;
    const numbers = MARK_NUMBERS[mark] ?? refuse('corrupt', 'no such mark');
    for (let index = 0; index < numbers; index += 1) readUnsigned(bits);
  }
}

function readFilter(bits: Bits, { filterControl }: PictureParameters): EdgeFilter {
  const mode = filterControl ? within(readUnsigned(bits), 0, 2) : 0;
  if (!filterControl || mode === 1) return { mode, alphaOffset: 0, betaOffset: 0 };
  return { mode, alphaOffset: 2 * within(readSigned(bits), -6, 6), betaOffset: 2 * within(readSigned(bits), -6, 6) };
}
