import { Readable } from 'node:stream';
import type { MediaBackends } from '@reelgate/media/app';
import { newNameCounter } from './draws.ts';
import type { Draws } from './draws.ts';
import type { Faults } from './faults.ts';

const FULL_WRITES = 0.05;
const FAILED_READS = 0.05;
/** Of the reads that fail, this part has given the first half of its bytes. */
const FAILED_IN_THE_MIDDLE = 0.5;

type Blobs = MediaBackends['blobs'];

/** The disk of the media service, which can be full, and can fail to give its bytes. */
export interface MediaDisk {
  /** Throws if the disk is full when these bytes are written. */
  assertRoom(name: string): void;
  /** The stored bytes on this disk. */
  over(blobs: Blobs): Blobs;
}

export interface MediaDiskOptions {
  readonly draws: Draws;
  readonly faults: Faults;
  /** What the bytes of a key are, for the choices about them. */
  readonly nameKey: (key: string) => string;
}

function newSystemError(code: 'ENOSPC' | 'EIO', text: string): Error {
  return Object.assign(new Error(`${code}: ${text}`), { code });
}

export function openMediaDisk({ draws, faults, nameKey }: MediaDiskOptions): MediaDisk {
  const countName = newNameCounter();
  const assertRoom = (name: string): void => {
    if (faults.happens('full media disk', countName(`media write ${name}`), FULL_WRITES))
      throw newSystemError('ENOSPC', 'no space left on device, write');
  };
  const isUnreadable = (kind: string, key: string): string | undefined => {
    const name = countName(`media ${kind} ${nameKey(key)}`);
    return faults.happens('unreadable media', name, FAILED_READS) ? name : undefined;
  };
  const assertReadable = (kind: string, key: string): void => {
    if (isUnreadable(kind, key) !== undefined) throw newSystemError('EIO', `i/o error, ${kind}`);
  };
  /** Fails before the first byte, or in the middle. */
  const read = async <T extends AsyncIterable<Uint8Array>>(
    key: string,
    open: () => Promise<T | undefined>,
    toStream: (pieces: AsyncIterable<Uint8Array>) => T,
  ): Promise<T | undefined> => {
    const name = isUnreadable('read', key);
    const pieces = await open();
    if (name === undefined || pieces === undefined) return pieces;
    if (!draws.happens(`${name} in the middle`, FAILED_IN_THE_MIDDLE)) throw newSystemError('EIO', 'i/o error, read');
    return toStream(breakOff(pieces));
  };
  return {
    assertRoom,
    over: (blobs) => ({
      ...blobs,
      keep: async (key, file) => {
        assertRoom(`keep ${nameKey(file.path)}`);
        await blobs.keep(key, file);
      },
      has: async (key, bytes) => {
        assertReadable('look', key);
        return blobs.has(key, bytes);
      },
      open: (key, range) =>
        read(
          key,
          () => blobs.open(key, range),
          (pieces) => Readable.from(pieces),
        ),
      pieces: (key, range) =>
        read(
          key,
          () => blobs.pieces(key, range),
          (pieces) => pieces,
        ),
      remove: async (key) => {
        assertReadable('removal', key);
        await blobs.remove(key);
      },
    }),
  };
}

async function* breakOff(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  for await (const piece of pieces) {
    yield piece.subarray(0, piece.byteLength >> 1);
    throw newSystemError('EIO', 'i/o error, read');
  }
}
