/** The mask of every program of this repository: what it makes is for its own user alone. */
export const PRIVATE_UMASK = 0o077;
