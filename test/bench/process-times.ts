import { readFileSync } from 'node:fs';

/** `/proc` counts in hundredths of a second. */
const TICK_MS = 10;

interface ProcessTimes {
  readonly ownMs: number;
  /** The processor time of its children that have ended. */
  readonly endedMs: number;
}

/** The processor time of a process, of all below it and of those that ended below it. */
export function measureTreeMs(pid: number): number {
  try {
    const { ownMs, endedMs } = readTimes(pid);
    return listChildren(pid).reduce((sum, child) => sum + measureTreeMs(child), ownMs + endedMs);
  } catch {
    // it ended while it was read, and its parent counts it from now on
    return 0;
  }
}

/** The processor time of a process alone. */
export function measureOwnMs(pid: number): number {
  return readTimes(pid).ownMs;
}

function readTimes(pid: number): ProcessTimes {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ').map(Number) ?? [];
  const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
  return { ownMs: (user + system) * TICK_MS, endedMs: (endedUser + endedSystem) * TICK_MS };
}

function listChildren(pid: number): readonly number[] {
  const threads = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return threads.split(' ').filter(Boolean).map(Number);
}
