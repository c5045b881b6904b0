import { readFileSync } from 'node:fs';

/**
 * Prints `PASSED FAILED` of one or two results of jest. The second result replaces the first one's for its test files,
 * so that a test counts once. With `--files`, prints the test files that failed.
 */
const asksForFiles = process.argv[2] === '--files';
const results = process.argv.slice(asksForFiles ? 3 : 2).map((file) => JSON.parse(readFileSync(file, 'utf8')));
const byFile = new Map(results.flatMap(({ testResults }) => testResults).map((result) => [result.name, result]));

if (asksForFiles) {
  for (const { name, status } of byFile.values()) if (status === 'failed') process.stdout.write(`${name}\n`);
} else {
  const ended = [...byFile.values()].flatMap(({ assertionResults, status }) =>
    // A file that failed before its first test is one failure.
    status === 'failed' && assertionResults.length === 0 ? ['failed'] : assertionResults.map((test) => test.status),
  );
  const count = (status) => ended.filter((each) => each === status).length;
  process.stdout.write(`${String(count('passed'))} ${String(count('failed'))}\n`);
}
