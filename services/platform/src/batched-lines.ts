import { pino } from 'pino';
import { systemClock } from './clock.ts';

const STANDARD_OUTPUT = 1;
/** The time that a line waits for others, in milliseconds. */
const WAIT_MS = 10;
/** The characters that do not wait any longer. */
const WAITING_MAX = 16_384;

/** Takes lines and writes those of a moment at once, because a write costs more than the line. */
export interface BatchedLines {
  write(line: string): void;
  /** Writes the lines that wait. */
  flush(): void;
}

/** The standard output. A process that exits writes what waits; one that is killed loses the last moment. */
export function openBatchedLines(): BatchedLines {
  const out = pino.destination({ dest: STANDARD_OUTPUT, sync: false });
  let lines = '';
  let isWaiting = false;
  const flush = (): void => {
    const text = lines;
    lines = '';
    if (text !== '') out.write(text);
  };
  const wait = async (): Promise<void> => {
    isWaiting = true;
    await systemClock.sleep(WAIT_MS);
    isWaiting = false;
    flush();
  };
  process.on('exit', () => {
    flush();
    out.flushSync();
  });
  return {
    flush,
    write: (line) => {
      lines += line;
      if (lines.length >= WAITING_MAX) flush();
      else if (!isWaiting) void wait();
    },
  };
}
