import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

export interface ServedObject {
  readonly object: string;
  readonly fileName: string;
  /** The still picture that stands for a result, rather than the result. */
  readonly variant?: 'thumbnail' | undefined;
}

export interface PrivateOptions {
  readonly accountId: string;
  readonly keepMs: number;
  /** `prv_` and an id that nothing else has. */
  readonly object?: string | undefined;
}

/** The media service as far as the gateway needs it: bytes in, bytes out. In one program it is the service's own object. */
export interface MediaPort {
  /** Keeps bytes that a client sent within a request, for that account alone; at most so many come. */
  put(bytes: Buffer | Readable, options: { readonly accountId: string; readonly bytesMax: number }): Promise<{ readonly object: string; readonly bytes: number }>;
  /** Keeps bytes for our own use for so long, under a name where one is given; no link leads to them. */
  putPrivate(bytes: Buffer, options: PrivateOptions): Promise<{ readonly object: string }>;
  /** Removes what a client sent and private bytes before their time; those that are gone already are no fault. */
  remove(objects: readonly string[]): Promise<void>;
  /** The bytes of an object; undefined: there is nothing any more. The stream must be read or destroyed. */
  read(object: string): Promise<Readable | undefined>;
  /** Answers GET and HEAD with a stored object: ranges, validators and all. Resolves when the answer has ended. */
  serve(request: IncomingMessage, response: ServerResponse, what: ServedObject): Promise<unknown>;
  /** Answers GET and HEAD of a signed link under `/ximg/`. */
  serveLink(request: IncomingMessage, response: ServerResponse): Promise<unknown>;
}
