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

/** What whoever follows an address is told of the bytes. */
export interface LinkOptions {
  readonly method: 'GET' | 'HEAD';
  readonly mediaType: string;
  readonly fileName: string;
  /** Until the address is good for nothing. */
  readonly secondsLeft: number;
}

/** Keeps bytes under keys. What is under a key never changes, so a key that was removed is never used again. */
export interface BlobStore {
  /** Takes a received file over. When it resolves the bytes survive a crash; before, there is nothing under the key. Repeating is harmless. */
  keep(key: string, file: ReceivedFile): Promise<void>;
  /** How many bytes; undefined: there is nothing. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Undefined: there is nothing, or nothing in that range. The stream must be read or destroyed. */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** The same piece by piece, as fast as they are asked for; a piece is good until the next one is asked for. Undefined: there is nothing. */
  pieces(key: string, range?: ByteRange): Promise<AsyncIterable<Uint8Array> | undefined>;
  /** Gives the work a path on this machine to read them at, for as long as it runs; undefined: there is nothing. */
  withFile<T>(key: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** An address at which anybody may read it without asking us; undefined: this store has none. */
  linkTo(key: string, options: LinkOptions): Promise<string | undefined>;
  /** What lies behind a key, in the order of keys; at most so many. An empty key stands before all. */
  list(after: string, limit: number): Promise<readonly StoredBlob[]>;
  /** Harmless when there is nothing. */
  remove(key: string): Promise<void>;
  /** Rejects when the store does not answer. */
  check(): Promise<void>;
}
