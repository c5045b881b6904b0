/** A hold outlasts the longest wait of a job by this time, which covers the call itself and the queue after a crash. */
export const HOLD_SLACK_MS = 3 * 3_600_000;
