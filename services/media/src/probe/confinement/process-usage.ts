import { readFileSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import type { Clock } from '@reelgate/platform/clock';

/** Linux reports processor time in hundredths of a second. */
const TICK_MS = 10;
const PAGE_BYTES = 4096;
/** Fields after the program name, which can hold any character and ends with the last bracket. */
const USER_TICKS = 11;
const SYSTEM_TICKS = 12;
const RESIDENT_PAGES = 21;

export interface ProcessUsage {
  readonly processorMs: number;
  readonly residentBytes: number;
}

/** Reads the processor time and the memory of a process from the kernel. Returns undefined if they are unknown. */
export function readProcessUsage(pid: number): ProcessUsage | undefined {
  try {
    // the kernel answers from memory, faster than a round of the event loop
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat
      .slice(stat.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, pages = 0] = [fields[USER_TICKS], fields[SYSTEM_TICKS], fields[RESIDENT_PAGES]];
    return { processorMs: (user + system) * TICK_MS, residentBytes: pages * PAGE_BYTES };
  } catch {
    return undefined;
  }
}

/** On a busy machine a job can run for this many times its processor time. */
const TIMES_MAX = 4;
/** The interval between two usage checks. Memory grows by a few hundred mebibytes at most in that time. */
const POLL_MS = 50;

export interface UsageBounds {
  readonly clock: Clock;
  /** The usage before the job, undefined if it is unknown or the process is new. */
  readonly before: ProcessUsage | undefined;
  /** The processor time that the process can use from now on. */
  readonly ms: number;
  readonly memoryBytes: number;
  readonly signal: AbortSignal;
}

/**
 * Resolves when a process has used `ms` of processor time or holds more than `memoryBytes`, even on a busy machine. It
 * resolves after `TIMES_MAX * ms` of wall-clock time at the latest, because a process can wait forever, and immediately
 * when the signal is aborted. If the usage of the process is unknown, only the wall clock counts.
 */
export async function boundsReached(
  usage: () => ProcessUsage | undefined,
  { clock, before, ms, memoryBytes, signal }: UsageBounds,
): Promise<void> {
  const from = before?.processorMs ?? 0;
  const atMost = clock.now() + TIMES_MAX * ms;
  while (!signal.aborted && clock.now() < atMost) {
    await clock.sleep(Math.min(POLL_MS, Math.max(1, atMost - clock.now())), signal);
    const now = usage();
    if (now !== undefined && (now.processorMs - from >= ms || now.residentBytes > memoryBytes)) return;
  }
}

/**
 * Lets other processes run first. The parsers of files share the cores with the services that answer calls, and a file
 * can wait where a caller cannot. Call it as soon as the process has started: its threads and children get the priority
 * that it has when they start. It has no effect on a process that has ended, or where the system refuses it.
 */
export function lowerPriority(pid: number | undefined): void {
  if (pid === undefined) return;
  try {
    setPriority(pid, constants.priority.PRIORITY_BELOW_NORMAL);
  } catch {
    // the work is the same at any priority
  }
}
