import { PRIVATE_UMASK } from '../program/private-umask.ts';

/** The mask of the caller, for files that the caller names. From here on every other new file is private. */
export const CALLER_UMASK = process.umask(PRIVATE_UMASK);
