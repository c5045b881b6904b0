/** Hosts of this machine alone. */
export const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;
