import type { Report } from '../domain/report.ts';
import { readSecondsAsMs } from './json-fields.ts';

/** The report with the time at which the work ended, in seconds since 1970 as the upstream gives it. */
export function withEndTime(report: Report, seconds: unknown): Report {
  const endedAt = readSecondsAsMs(seconds);
  const hasEnded = report.phase === 'succeeded' || report.phase === 'failed';
  return hasEnded && endedAt !== undefined ? { ...report, endedAt } : report;
}
