import type { Readable } from 'node:stream';
import type { ReceivedFile } from './incoming.ts';

/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface StoredBlob {
  readonly key: string;
  readonly bytes: number;
}

/** The answer headers of an address in the bucket. */
export interface LinkOptions {
  readonly method: 'GET' | 'HEAD';
  readonly mediaType: string;
  readonly fileName: string;
  /** The time until the address expires. */
  readonly secondsLeft: number;
}

/** Stores bytes under keys. The bytes of a key never change, so a removed key is never used again. */
export interface BlobStore {
  /**
   * Takes over a received file. When it resolves, the bytes survive a crash. Before that, the key is empty. It can be
   * repeated.
   */
  keep(key: string, file: ReceivedFile): Promise<void>;
  /**
   * Reports whether the key has that number of bytes. If it has, they survive a crash when it resolves, as after
   * `keep`.
   */
  has(key: string, bytes: number): Promise<boolean>;
  /** Returns the number of bytes, or undefined if the key is empty. */
  findSize(key: string): Promise<number | undefined>;
  /** Returns undefined if the key or the range is empty. The caller must read or destroy the stream. */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /**
   * Returns the bytes in pieces, on demand, or undefined if the key is empty. A piece is valid until the next one is
   * requested.
   */
  pieces(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Runs work on a local file of the bytes. Returns undefined if the key is empty. */
  withFile<T>(key: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** Returns a public address of the bytes, or undefined if this store has no public addresses. */
  linkTo(key: string, options: LinkOptions): Promise<string | undefined>;
  /** At most `limit` keys after this one, in order. The empty key is before all others. */
  list(after: string, limit: number): Promise<readonly StoredBlob[]>;
  /** An empty key is not an error. */
  remove(key: string): Promise<void>;
  /** Rejects if the store does not answer. */
  check(): Promise<void>;
}

const KEY = /^[a-z0-9][a-z0-9_-]{3,127}$/;

/** A key is a plain name, so it cannot lead out of the store. */
export function checkKey(key: string): string {
  if (!KEY.test(key)) throw new TypeError(`not a blob key: ${key}`);
  return key;
}
