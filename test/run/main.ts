// `npm test` and `npm run test:all`: hands its arguments to Jest. Without a file or folder among them, and without
// `--all`, it leaves out the long tests. What tests draw follows from the commit, unless REELGATE_SEED is set.
import path from 'node:path';
import { buildArgv, run } from 'jest';
import { computeCommitSeed, readCommit } from './commit-seed.ts';
import { LONG_TESTS, SHORT_IN_LONG_FOLDERS } from './long-tests.ts';

const ALL = '--all';
/** As under `npm start`: each of the programs that the tests start loads compiled code. */
const COMPILED = path.join(import.meta.dirname, '../../node_modules/.cache/compiled');

process.env['NODE_COMPILE_CACHE'] ??= COMPILED;
process.env['REELGATE_SEED'] ??= String(computeCommitSeed(readCommit()));

const given = process.argv.slice(2).filter((argument) => argument !== ALL);
const isAll = process.argv.includes(ALL);
/** The arguments beside the options select files. */
const { _: selected } = await buildArgv(given);

if (isAll || selected.length > 0) {
  await run(given);
} else {
  process.stderr.write(describeLongTests());
  await run([...given, '--testPathIgnorePatterns', ...LONG_TESTS.map(({ path }) => toPattern(path))]);
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
