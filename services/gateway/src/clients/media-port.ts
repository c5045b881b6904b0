import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Readable } from 'node:stream';

/** The pictures of a result: the thumbnail from media, and the last frame from the generator. */
export type Picture = 'thumbnail' | 'last_frame';

export interface ServedObject {
  readonly object: string;
  readonly fileName: string;
  /** A picture of a result instead of the result itself. */
  readonly variant?: Picture | undefined;
  /**
   * True if the bytes come through the gateway even if they are in a bucket, because a page plays only media of its own
   * origin.
   */
  readonly direct?: boolean | undefined;
}

export interface PrivateOptions {
  readonly accountId: string;
  readonly keepMs: number;
  /** `prv_` followed by a unique id. */
  readonly object?: string | undefined;
}

/** The bytes that clients send within requests. */
export interface InlineStore extends ByteRemover {
  /**
   * Keeps bytes that a client sent within a request, for that account alone. The stream yields at most `bytesMax`
   * bytes.
   */
  put(
    bytes: Buffer | Readable,
    options: { readonly accountId: string; readonly bytesMax: number },
  ): Promise<{ readonly object: string; readonly bytes: number }>;
}

/** The bytes that the gateway keeps for itself. */
export interface PrivateStore extends ByteRemover {
  /** Keeps bytes for our own use for `keepMs`, under the name `object` if it is given. No link leads to them. */
  putPrivate(bytes: Buffer, options: PrivateOptions): Promise<{ readonly object: string }>;
}

/** The bytes of files that clients own. */
export interface FileStore {
  /**
   * Receives the bytes of a reserved file and returns their number. Refuses more bytes than reserved with
   * `body_too_large`.
   */
  putFile(bytes: Readable, file: { readonly accountId: string; readonly id: string }): Promise<number>;
}

interface ByteRemover {
  /** Removes inline and private bytes before they expire. An object that is already gone is not an error. */
  remove(objects: readonly string[]): Promise<void>;
}

export interface ByteReader {
  /** Reads the bytes of an object. Returns undefined if the object is gone. The stream must be read or destroyed. */
  read(object: string): Promise<Readable | undefined>;
}

export interface ThumbnailReader {
  /** Reads the thumbnail of a result. Returns undefined if it has no thumbnail. */
  readThumbnail(object: string): Promise<Readable | undefined>;
}

/**
 * The part of the media service that the gateway uses: bytes in, bytes out. In one program it is the service's own
 * object.
 */
export interface MediaPort extends InlineStore, PrivateStore, FileStore, ByteReader, ThumbnailReader {
  /** Answers GET and HEAD with a stored object, with ranges and validators. Resolves when the answer has ended. */
  serve(request: IncomingMessage, response: ServerResponse, what: ServedObject): Promise<unknown>;
  /** Answers GET and HEAD of a signed link under `/ximg/`. */
  serveLink(request: IncomingMessage, response: ServerResponse): Promise<unknown>;
}
