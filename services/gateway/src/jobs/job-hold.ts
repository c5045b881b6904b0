/** What a call itself can take, and the queue after a crash: a hold lasts so much longer than a job may wait. */
export const HOLD_SLACK_MS = 3 * 3_600_000;
