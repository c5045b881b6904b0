import type { Readable } from 'node:stream';
import type { MediaKind } from '../domain/order.ts';

const STAGED_BYTES_MAX = 128 * 1024 * 1024;

/** A part of an object. */
export interface ByteSpan {
  readonly offset: number;
  /** Zero to get the facts of the object without its bytes. */
  readonly length: number;
}

export interface OpenedBytes {
  /** Of the whole object, in lower-case hexadecimal. Empty if it is not known. */
  readonly sha256: string;
  /** The bytes of the part, read only as fast as they are taken. It must be read or destroyed. */
  readonly stream: Readable;
}

export interface StagedBytesReader {
  /** Reads a staged media item whole, for a channel that takes it inside the request. */
  read(object: string, signal: AbortSignal): Promise<Buffer>;
}

export interface ObjectOpener {
  /** Opens a part of an object. Returns undefined if the object is no longer stored. */
  open(object: string, span: ByteSpan, signal: AbortSignal): Promise<OpenedBytes | undefined>;
}

export interface UploadStore {
  /** Reserves the bytes of an upload, or refuses it before its first byte. */
  beginUpload(upload: UploadRequest): Promise<Reservation>;
  /** Stores the bytes of an upload. If the stream fails, the upload is dropped. */
  put(stream: Readable, upload: { readonly accountId: string; readonly upload: string }): Promise<StoredUpload>;
  /** Gives up an upload that was not stored. An upload that has ended is not an error. */
  endUpload(upload: string): Promise<void>;
  /** Removes the object of an upload. An object that is already gone is not an error. */
  remove(object: string): Promise<void>;
}

/** The bytes of media. */
export interface MediaBytes extends StagedBytesReader, ObjectOpener, UploadStore {}

export interface UploadRequest {
  readonly accountId: string;
  readonly kind: MediaKind;
  /** Empty if no type is declared. */
  readonly declaredType: string;
  /** Undefined if it is not known. */
  readonly bytes: number | undefined;
}

export interface Reservation {
  readonly upload: string;
  readonly bytesMax: number;
}

export interface StoredUpload {
  readonly object: string;
  readonly bytes: number;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
}

/** Reads a whole stream, up to the size limit of staged media. */
export async function collect(stream: AsyncIterable<Buffer>): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of stream) {
    bytes += part.length;
    if (bytes > STAGED_BYTES_MAX) throw new Error(`a staged object has more than ${STAGED_BYTES_MAX} bytes`);
    parts.push(part);
  }
  return Buffer.concat(parts);
}
