import type { BatchFault, EndedLine, NewLine } from '../clients/batches-client.ts';
import type { ByteReader } from '../clients/media-port.ts';
import type { Links } from '../dialects/dialect.ts';
import type { Charge } from '../domain/charge.ts';
import type { Models } from '../domain/model-defaults.ts';

/** A route that the lines of a batch can call. */
export interface BatchEndpoint {
  readonly path: string;
  /** Reads the body of a line. One that the route would refuse ends its line alone. */
  readonly decode: (body: object, models: Models) => NewLine['body'];
  /** Adds to the refusal of a line what the route adds to the refusal of a single request. */
  readonly explain?: (fault: BatchFault) => BatchFault;
  /** Encodes what the route answered. */
  readonly encode: (end: LineResult, parts: EncodeParts) => Promise<LineAnswer>;
}

/** The end of a line that has a task or a job. */
export type LineResult = Exclude<EndedLine['end'], { readonly fault: unknown }>;

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

/** The body of a line that ends alone, with the reason that a single request would have had. */
export function newLineFault(code: string, param: string | undefined, what: string): NewLine['body'] {
  return { fault: { code, line: undefined, param, message: param === undefined ? what : `${param} ${what}` } };
}
