import { closeSync, openSync } from 'node:fs';
import { FalseClaim } from './false-claim.ts';
import { FileBytes } from './file-bytes.ts';
import { checkMovie } from './movie-claims.ts';
import { checkMp3, checkWave } from './sound-claims.ts';
import { checkWebm } from './webm-claims.ts';

/** By the type of a container. A picture is checked where its size is read. */
const CHECKS: Readonly<Record<string, (bytes: FileBytes) => void>> = {
  'video/mp4': checkMovie,
  'video/quicktime': checkMovie,
  'video/webm': checkWebm,
  'audio/wav': checkWave,
  'audio/mpeg': checkMp3,
};

/**
 * Whether all that a container says of itself could be in a file of its size: tables, counts, and the sizes of what they name. A parser
 * believes them, and can be kept busy for minutes by a few hundred bytes. Reads the heads and the tables alone, and so only in a worker.
 */
export function claimsFit(path: string, mediaType: string): boolean {
  const descriptor = openSync(path, 'r');
  try {
    CHECKS[mediaType]?.(new FileBytes(descriptor));
    return true;
  } catch (error) {
    if (error instanceof FalseClaim) return false;
    throw error;
  } finally {
    closeSync(descriptor);
  }
}
