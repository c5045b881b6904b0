import type { Report } from '../domain/report.ts';
import { secondsOf } from './json-fields.ts';

/** The report with the time at which the work ended, in seconds since 1970 as the upstream gives it. */
export function withEnd(report: Report, seconds: unknown): Report {
  const endedAt = secondsOf(seconds);
  const hasEnded = report.phase === 'succeeded' || report.phase === 'failed';
  return hasEnded && endedAt !== undefined ? { ...report, endedAt } : report;
}
