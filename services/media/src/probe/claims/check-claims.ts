import { closeSync, openSync } from 'node:fs';
import { FileBytes, FalseClaim } from './file-bytes.ts';
import { checkMovie } from './movie-claims.ts';
import { checkMp3, checkWave } from './audio-claims.ts';
import { checkWebm } from './webm-claims.ts';

/** The checks by container. A picture is checked where its size is read. */
const CHECKS: Readonly<Record<string, (bytes: FileBytes) => void>> = {
  'video/mp4': checkMovie,
  'video/quicktime': checkMovie,
  'video/webm': checkWebm,
  'audio/wav': checkWave,
  'audio/mpeg': checkMp3,
};

/**
 * Reports whether the claims of a container (tables, counts, sizes) fit into a file of its size. A parser trusts
 * them, so a few hundred bytes can keep it busy for minutes. The check reads headers and tables only. It runs in a
 * parser process.
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
