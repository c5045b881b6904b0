/** The time in milliseconds for which an idempotency key returns the task or job that it created. */
export const KEY_LIFETIME_MS = 24 * 3600 * 1000;
