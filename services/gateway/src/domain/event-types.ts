/** The types of events that a client can hear. */
export const EVENT_TYPES: readonly string[] = [
  'video.completed',
  'video.failed',
  'job.completed',
  'job.failed',
  'balance.low',
];
