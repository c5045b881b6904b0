import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { CustomSource } from 'mediabunny';
import { MOVIE_BYTES_MAX } from '../claims/movie-claims.ts';

/** The movie box is read in one piece, with some bytes around it. No single frame is larger. */
const AROUND_BYTES = 512 * 1024;
const CACHE_BYTES = 8 * 1024 * 1024;

export interface BoundedSource {
  readonly source: CustomSource;
  readonly close: () => void;
}

/**
 * Reads one file and no other. One read is at most as large as the largest movie box, which bounds the memory that a
 * parser holds outside its heap.
 */
export function openBoundedSource(path: string): BoundedSource {
  const descriptor = openSync(path, 'r');
  const source = new CustomSource({
    getSize: () => fstatSync(descriptor).size,
    read: (start, end) => {
      if (end - start > MOVIE_BYTES_MAX + AROUND_BYTES) throw new Error('a read exceeds the limit of one piece');
      const bytes = new Uint8Array(end - start);
      readSync(descriptor, bytes, 0, bytes.byteLength, start);
      return bytes;
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => undefined,
  });
  return {
    source,
    close: () => {
      closeSync(descriptor);
    },
  };
}
