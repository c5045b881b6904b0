/** Codes of RFC 6455, 7.4.1, and of the registry. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  noStatus: 1005,
  abnormal: 1006,
  policy: 1008,
  tooBig: 1009,
  internal: 1011,
  restart: 1012,
  tryAgain: 1013,
} as const;

const REASON_BYTES_MAX = 123;

/**
 * Returns the code for a close frame that passes on a received or observed code, or undefined if the frame has none.
 */
export function toCloseCode(code: number): number | undefined {
  if (code === CLOSE.noStatus) return undefined;
  const passes =
    (code >= 1000 && code <= 1014 && code !== 1004 && code !== CLOSE.abnormal) || (code >= 3000 && code <= 4999);
  return passes ? code : CLOSE.internal;
}

/** Returns as much of the reason as fits into a close frame. */
export function toCloseReason(reason: string): string {
  const bytes = Buffer.from(reason);
  if (bytes.length <= REASON_BYTES_MAX) return reason;
  // A character that is cut becomes the replacement character, which is dropped.
  return bytes
    .subarray(0, REASON_BYTES_MAX)
    .toString()
    .replace(/\ufffd+$/, '');
}
