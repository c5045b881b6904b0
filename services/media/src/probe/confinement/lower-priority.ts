import { constants, setPriority } from 'node:os';

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
