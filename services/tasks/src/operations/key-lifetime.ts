/** How long an idempotency key answers with what it made. */
export const KEY_LIFETIME_MS = 24 * 3600 * 1000;
