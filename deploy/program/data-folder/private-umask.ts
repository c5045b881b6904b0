/** The mask of every program of this repository: new files are for its own user alone. */
export const PRIVATE_UMASK = 0o077;
