// `npm test` and `npm run test:all`: hands its arguments to Jest. Without a file or folder among them, and without
// `--all`, it leaves out the long tests.
import { existsSync } from 'node:fs';
import path from 'node:path';
import { run } from 'jest';
import { LONG_TESTS, SHORT_IN_LONG_FOLDERS } from './long-tests.ts';

const ALL = '--all';
/** As under `npm start`: each of the programs that the tests start loads compiled code. */
const COMPILED = path.join(import.meta.dirname, '../../node_modules/.cache/compiled');

process.env['NODE_COMPILE_CACHE'] ??= COMPILED;

const given = process.argv.slice(2).filter((argument) => argument !== ALL);
const isAll = process.argv.includes(ALL);
const namesFiles = given.some((argument) => !argument.startsWith('-') && isTestPath(argument));

if (isAll || namesFiles) {
  await run(given);
} else {
  process.stderr.write(describeLongTests());
  await run([...given, '--testPathIgnorePatterns', ...LONG_TESTS.map(({ path }) => toPattern(path))]);
}

/** Reports whether the argument selects tests: a file, a folder or the beginning of a path in one. */
function isTestPath(argument: string): boolean {
  return existsSync(argument) || /^(services|deploy|test|proto)\//.test(argument) || argument.endsWith('.test.ts');
}

/** Returns a regular expression that matches the tests at the path, without the short ones in a folder. */
function toPattern(folder: string): string {
  const short = SHORT_IN_LONG_FOLDERS.filter((file) => file.startsWith(folder)).map((file) =>
    file.slice(folder.length),
  );
  const except = short.length === 0 ? '' : `(?!(${short.map(escape).join('|')})$)`;
  return `<rootDir>/${escape(folder)}${except}`;
}

function escape(text: string): string {
  return text.replaceAll('.', String.raw`\.`);
}

function describeLongTests(): string {
  const folders = LONG_TESTS.filter(({ path }) => path.endsWith('/'));
  const lines = LONG_TESTS.filter(
    (long) => folders.includes(long) || !folders.some((folder) => long.path.startsWith(folder.path)),
  ).map(({ path, reason }) => `  ${path}: ${reason}`);
  return `left out, because they take long (npm run test:all runs them too):\n${lines.join('\n')}\n`;
}
