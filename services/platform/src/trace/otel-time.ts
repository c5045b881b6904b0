import type { HrTime } from '@opentelemetry/api';

/** Seconds and nanoseconds. The SDK would take a number for a time since the start of this process. */
export function hrTime(ms: number): HrTime {
  return [Math.floor(ms / 1000), Math.round((ms % 1000) * 1e6)];
}
