import { open } from 'node:fs/promises';
import { CustomSource } from 'mediabunny';
import { MOVIE_BYTES_MAX } from './claims/movie-claims.ts';

/** The movie box is read in one piece, with a little around it; no one picture of a film is larger. */
const AROUND_BYTES = 512 * 1024;
const CACHE_BYTES = 8 * 1024 * 1024;

export interface BoundedSource {
  readonly source: CustomSource;
  readonly close: () => Promise<void>;
}

/** One file and no other, of which no more is read at once than a sound file asks for. What a parser holds outside of its heap is bounded so. */
export async function openBoundedSource(path: string): Promise<BoundedSource> {
  const handle = await open(path, 'r');
  const source = new CustomSource({
    getSize: async () => (await handle.stat()).size,
    read: async (start, end) => {
      if (end - start > MOVIE_BYTES_MAX + AROUND_BYTES) throw new Error('too much of the file is asked for at once');
      return (await handle.read(new Uint8Array(end - start), 0, end - start, start)).buffer;
    },
    maxCacheSize: CACHE_BYTES,
    prefetchProfile: 'fileSystem',
    handleUnhandledError: () => undefined,
  });
  return { source, close: () => handle.close() };
}
