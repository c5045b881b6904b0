import { create } from '@bufbuild/protobuf';
import { BatchFaultSchema, BatchLineInputSchema } from '@reelgate/proto/tasks/v1/batch';
import type { BatchFault, BatchLine, BatchLineInput } from '@reelgate/proto/tasks/v1/batch';
import type { ByteReader } from '../clients/media-port.ts';
import type { Links } from '../dialects/dialect.ts';
import type { Charge } from '../domain/charge.ts';
import type { Models } from '../domain/model-defaults.ts';

/** A route that the lines of a batch can call. */
export interface BatchEndpoint {
  readonly path: string;
  /** Reads the body of a line, which then lacks its number and its name. A body that the route refuses is a fault. */
  readonly decode: (body: object, models: Models) => BatchLineInput;
  /** Adds to the refusal of a line what the route adds to the refusal of a single request. */
  readonly explain?: (fault: BatchFault) => BatchFault;
  /** Encodes what the route answered. */
  readonly encode: (end: LineResult, parts: EncodeParts) => Promise<LineAnswer>;
}

/** The end of a line that has a task or a job. */
export type LineResult = Extract<BatchLine['end'], { readonly case: 'task' | 'job' }>;

export interface EncodeParts {
  readonly links: Links;
  readonly media: ByteReader;
  /** The charges of the tasks of lines. A task without a known charge is left out. */
  readonly charges: ReadonlyMap<string, Charge>;
}

/** The answer that the route would have given, or why there is none. A long body comes in pieces. */
export type LineAnswer =
  | { readonly statusCode: number; readonly body: object | AsyncIterable<string | Buffer> }
  | { readonly error: { readonly code: string; readonly message: string } };

/** The fault of a line, or of a file if no line is given, with the reason that a single request would have had. */
export function newFault(code: string, param = '', what: string, line = 0): BatchFault {
  return create(BatchFaultSchema, { code, line, param, message: param === '' ? what : `${param} ${what}` });
}

/** A line that ends alone. */
export function newFaultyLine(code: string, param: string | undefined, what: string): BatchLineInput {
  return create(BatchLineInputSchema, { body: { case: 'fault', value: newFault(code, param, what) } });
}
