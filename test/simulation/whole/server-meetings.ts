import type { Scheduler, SimulatedProcess } from './scheduler.ts';

/** Statements that wait until another process sends the same one, so that both transactions are under way at once. */
export interface ServerMeetings {
  /** Lets the statement go on that another process waits with. Returns whether there was one. */
  meet(text: string, process: SimulatedProcess): boolean;
  /** Waits for another process with the same statement, at most for this time. */
  await(text: string, process: SimulatedProcess, ms: number): Promise<void>;
}

export function openServerMeetings(scheduler: Scheduler): ServerMeetings {
  const waiting = new Map<string, { readonly process: SimulatedProcess; readonly end: () => void }>();
  return {
    meet: (text, process) => {
      const other = waiting.get(text);
      if (other === undefined || other.process === process) return false;
      other.end();
      return true;
    },
    await: (text, process, ms) =>
      new Promise((resolve) => {
        const own = {
          process,
          end: () => {
            timer.isCancelled = true;
            if (waiting.get(text) === own) waiting.delete(text);
            resolve();
          },
        };
        const timer = scheduler.after(ms, scheduler.world, own.end);
        waiting.set(text, own);
      }),
  };
}
