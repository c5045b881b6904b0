import path from 'node:path';
import { findReason } from './long-tests.ts';

const ROOT = path.join(import.meta.dirname, '../..');
const FILES_MAX = 20;
/** A file below this is not slow. */
const SECONDS_MIN = 10;
const MS_PER_SECOND = 1000;

/** The part of Jest's results that is printed; times are in milliseconds. */
interface Results {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly perfStats: { readonly start: number; readonly end: number };
  }[];
}

/** A reporter for Jest that prints the slowest files at the end, each with the reason why it takes long. */
export default class SlowestFiles {
  onRunComplete(_contexts: unknown, { testResults }: Results): void {
    const slowest = testResults
      .map(({ testFilePath, perfStats }) => ({
        file: path.relative(ROOT, testFilePath),
        seconds: (perfStats.end - perfStats.start) / MS_PER_SECOND,
      }))
      .filter(({ seconds }) => seconds >= SECONDS_MIN)
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, FILES_MAX)
      .map(
        ({ file, seconds }) =>
          `${seconds.toFixed(0).padStart(5)} s  ${file}: ${findReason(file) ?? 'not in test/run/long-tests.ts'}`,
      );
    if (slowest.length > 0) process.stderr.write(`the slowest files:\n${slowest.join('\n')}\n`);
  }
}
