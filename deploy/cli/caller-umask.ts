import { PRIVATE_UMASK } from '../program/data-folder/private-umask.ts';

/** The mask of the caller, for files that the caller names. From here on every other new file is private. */
export const CALLER_UMASK = process.umask(PRIVATE_UMASK);

/** Runs work under the umask of the caller, so that new files get the same permissions as an editor's. */
export async function withCallerUmask<T>(write: () => Promise<T> | T): Promise<T> {
  process.umask(CALLER_UMASK);
  try {
    return await write();
  } finally {
    process.umask(PRIVATE_UMASK);
  }
}
