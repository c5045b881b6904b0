import type { Readable } from 'node:stream';
import type { ReceivedFile } from './incoming.ts';

/** Both ends included. */
export interface ByteRange {
  readonly start: number;
  readonly end: number;
}

export interface LocalFile {
  readonly root: string;
  /** Relative to the root. */
  readonly name: string;
}

/** Keeps bytes under keys. What is under a key never changes, so a key that was removed is never used again. */
export interface BlobStore {
  /** Takes a received file over. When it resolves the bytes survive a crash; before, there is nothing under the key. Repeating is harmless. */
  keep(key: string, file: ReceivedFile): Promise<void>;
  /** How many bytes; undefined: there is nothing. */
  sizeOf(key: string): Promise<number | undefined>;
  /** Undefined: there is nothing. */
  open(key: string, range?: ByteRange): Promise<Readable | undefined>;
  /** Gives the work a path on this machine to read them at, for as long as it runs; undefined: there is nothing. */
  withFile<T>(key: string, work: (path: string) => Promise<T>): Promise<T | undefined>;
  /** Where they lie, when a server may send them from this machine's disk; undefined: they do not. */
  fileOf(key: string): LocalFile | undefined;
  /** Harmless when there is nothing. */
  remove(key: string): Promise<void>;
}
