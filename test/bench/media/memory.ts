import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';

const LOOK_MS = 20;
const MIB = 2 ** 20;

/** The memory of the processes without cached files; NaN if the system does not report it. */
export function memoryMiB(pids: readonly number[]): number {
  if (process.platform !== 'linux') return Number.NaN;
  return pids.reduce((sum, pid) => sum + anonymousMiB(pid), 0);
}

function anonymousMiB(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  return (Number(/RssAnon:\s+(\d+) kB/.exec(status)?.[1]) * 1024) / MIB;
}

/** The most memory that the processes held while the work ran. */
export async function peakMiB<T>(
  pids: () => readonly number[],
  work: () => Promise<T>,
): Promise<{ readonly result: T; readonly peak: number }> {
  let peak = 0;
  const over = new AbortController();
  const looking = (async () => {
    while (!over.signal.aborted) {
      peak = Math.max(peak, memoryMiB(pids()));
      await wait(LOOK_MS);
    }
  })();
  try {
    return { result: await work(), peak: Math.max(peak, memoryMiB(pids())) };
  } finally {
    over.abort();
    await looking;
  }
}
