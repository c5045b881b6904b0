import type { ChildProcess } from 'node:child_process';

/** The maximum number of characters of one answer, which has a dozen fields. */
const ANSWER_CHARACTERS_MAX = 4096;

/** The lines that a process writes: at most as many as are awaited. */
export interface ParserLines {
  readonly isOver: boolean;
  /** Awaits `count` more lines. */
  await(count: number): void;
  /** The next line, if it has come. */
  take(): string | undefined;
  /**
   * Waits for the next line, also of a process that has ended since. Returns undefined if no more lines come. It has
   * one reader.
   */
  next(): Promise<string | undefined>;
}

/**
 * Reads the lines that a process writes. A process that writes more lines than expected is ended, and the extra lines
 * are dropped. Earlier lines stay, because they can be the answers to other files. A line that arrives too late to be
 * noticed this way belongs to an earlier job.
 */
export function parserLines(child: ChildProcess): ParserLines {
  let received = '';
  let isOver = false;
  let awaited = 0;
  const come: string[] = [];
  let resolve: ((line: string | undefined) => void) | undefined;
  const give = (line: string | undefined): void => {
    const waiting = resolve;
    resolve = undefined;
    waiting?.(line);
  };
  const end = (): void => {
    isOver = true;
    child.kill('SIGKILL');
    give(undefined);
  };
  child.stdout?.setEncoding('utf8').on('data', (chunk: string) => {
    if (isOver) return;
    const lines = (received + chunk).split('\n');
    received = lines.pop() ?? '';
    const isTooLong = [...lines, received].some(({ length }) => length > ANSWER_CHARACTERS_MAX);
    if (!isTooLong) come.push(...lines.slice(0, awaited));
    awaited -= lines.length;
    if (resolve !== undefined && come.length > 0) give(come.shift());
    if (isTooLong || awaited < 0 || (awaited === 0 && received !== '')) end();
  });
  child.once('exit', end).once('error', end);
  return {
    get isOver() {
      return isOver;
    },
    await: (count) => {
      awaited += count;
    },
    take: () => come.shift(),
    next: async () => {
      const line = come.shift();
      if (line !== undefined || isOver) return line;
      return new Promise((asked) => {
        resolve = asked;
      });
    },
  };
}
