import { durationText } from '../../../parts/time.ts';

const SECOND_MS = 1000;

/** Writes how long a call took: `25 ms`, `1.9 s`. Most calls take less than a second. */
export function spanText(ms: number): string {
  return ms < SECOND_MS ? `${Math.max(1, Math.round(ms))} ms` : durationText(ms);
}
