import type { ClockReading } from './ask-service.ts';
import type { DoctorLine } from './doctor-line.ts';

/** Leases and links work with clocks that differ by less. */
const WARN_MS = 1000;
/** A lease of a worker lasts this long at least. */
const FAIL_MS = 15_000;
const ADVICE = 'let the machines follow the same time servers (chrony, systemd-timesyncd), and restart nothing';

/** Compares the clocks of the processes with that of this machine, and with one another. */
export function compareClocks(clocks: readonly ClockReading[]): readonly DoctorLine[] {
  if (clocks.length === 0) return [];
  const lines = clocks.map((clock) => lineOf(clock));
  return clocks.length < 2 ? lines : [...lines, betweenServices(clocks)];
}

function lineOf({ subject, aheadMs, uncertainMs }: ClockReading): DoctorLine {
  const certainMs = Math.max(0, Math.abs(aheadMs) - uncertainMs);
  const where = aheadMs < 0 ? 'behind' : 'ahead of';
  return {
    subject: 'clock',
    part: subject,
    ...graded(certainMs),
    detail:
      certainMs < WARN_MS
        ? `agrees with this machine, to ${String(Math.max(1, Math.abs(aheadMs) + uncertainMs))} ms`
        : `is ${inWords(Math.abs(aheadMs))} ${where} this machine`,
  };
}

function betweenServices(clocks: readonly ClockReading[]): DoctorLine {
  const first = clocks.reduce((one, other) => (other.aheadMs < one.aheadMs ? other : one));
  const last = clocks.reduce((one, other) => (other.aheadMs > one.aheadMs ? other : one));
  const certainMs = Math.max(0, last.aheadMs - first.aheadMs - last.uncertainMs - first.uncertainMs);
  return {
    subject: 'clock',
    part: 'between the services',
    ...graded(certainMs),
    detail:
      certainMs < WARN_MS
        ? 'they agree'
        : `${last.subject} is ${inWords(last.aheadMs - first.aheadMs)} ahead of ${first.subject}`,
  };
}

function graded(ms: number): Pick<DoctorLine, 'grade' | 'advice'> {
  if (ms < WARN_MS) return { grade: 'ok', advice: '' };
  return { grade: ms < FAIL_MS ? 'warn' : 'fail', advice: ADVICE };
}

function inWords(ms: number): string {
  return `${(ms / 1000).toFixed(1)} s`;
}
