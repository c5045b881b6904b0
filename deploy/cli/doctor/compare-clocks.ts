import type { Grade } from '@reelgate/platform/diagnosis/self-checks';
import { inSeconds } from './deadline.ts';
import type { DoctorLine } from './doctor-line.ts';

/** Leases and links work with clocks that differ by less. */
const WARN_MS = 1000;
/** The shortest lease of a worker. */
const FAIL_MS = 15_000;
const ADVICE = 'let the machines follow the same time servers (chrony, systemd-timesyncd); no restart is needed';

/** The clock of a process compared with the clock of this machine. */
export interface ClockReading {
  readonly subject: string;
  /** The time ahead of this machine, negative if it is behind. */
  readonly aheadMs: number;
  /** Half the time that the answer was on its way. */
  readonly uncertainMs: number;
}

/** Compares the clock of a process with the clock of this machine. */
export function describeClock({ subject, aheadMs, uncertainMs }: ClockReading): DoctorLine {
  const certainMs = Math.max(0, Math.abs(aheadMs) - uncertainMs);
  const where = aheadMs < 0 ? 'behind' : 'ahead of';
  return {
    subject: 'clock',
    part: subject,
    ...gradeOffset(certainMs),
    detail:
      certainMs < WARN_MS
        ? `agrees with this machine, to ${Math.max(1, Math.abs(aheadMs) + uncertainMs)} ms`
        : `is ${inSeconds(Math.abs(aheadMs))} ${where} this machine`,
  };
}

/** Compares the clocks of the processes with one another. One alone has no line. */
export function compareClocks(clocks: readonly ClockReading[]): readonly DoctorLine[] {
  const [one] = clocks;
  if (one === undefined || clocks.length < 2) return [];
  const first = clocks.reduce((earliest, other) => (other.aheadMs < earliest.aheadMs ? other : earliest), one);
  const last = clocks.reduce((latest, other) => (other.aheadMs > latest.aheadMs ? other : latest), one);
  const certainMs = Math.max(0, last.aheadMs - first.aheadMs - last.uncertainMs - first.uncertainMs);
  return [
    {
      subject: 'clock',
      part: 'between the services',
      ...gradeOffset(certainMs),
      detail:
        certainMs < WARN_MS
          ? 'they agree'
          : `${last.subject} is ${inSeconds(last.aheadMs - first.aheadMs)} ahead of ${first.subject}`,
    },
  ];
}

function gradeOffset(ms: number): { readonly grade: Grade; readonly advice: string } {
  if (ms < WARN_MS) return { grade: 'ok', advice: '' };
  return { grade: ms < FAIL_MS ? 'warn' : 'fail', advice: ADVICE };
}
