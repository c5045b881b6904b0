/** How long an idempotency key returns the task or job that it made. */
export const KEY_LIFETIME_MS = 24 * 3600 * 1000;
