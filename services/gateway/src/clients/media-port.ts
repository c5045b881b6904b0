import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

export interface ServedObject {
  readonly object: string;
  readonly fileName: string;
  /** The still picture that stands for a result, rather than the result. */
  readonly variant?: 'thumbnail' | undefined;
}

/** The media service as far as the gateway needs it: bytes in, bytes out. In one program it is the service's own object. */
export interface MediaPort {
  /** Keeps bytes that a client sent within a request, for that account alone. */
  put(bytes: Buffer | Readable, accountId: string): Promise<{ readonly object: string; readonly bytes: number }>;
  /** Keeps bytes for our own use for so long; no link leads to them. */
  putPrivate(bytes: Buffer, accountId: string, keepMs: number): Promise<{ readonly object: string }>;
  /** The bytes of an object; undefined: there is nothing any more. The stream must be read or destroyed. */
  read(object: string): Promise<Readable | undefined>;
  /** Answers GET and HEAD with a stored object: ranges, validators and all. Resolves when the answer has ended. */
  serve(request: IncomingMessage, response: ServerResponse, what: ServedObject): Promise<unknown>;
  /** Answers GET and HEAD of a signed link under `/ximg/`. */
  serveLink(request: IncomingMessage, response: ServerResponse): Promise<unknown>;
}
