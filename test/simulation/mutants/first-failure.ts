import path from 'node:path';

/** Begins the line that names the test that failed. */
export const FAILURE_PREFIX = 'first failure: ';

/** The part of Jest's results that is read. */
interface Results {
  readonly testResults: readonly {
    readonly testFilePath: string;
    readonly numFailingTests: number;
    readonly testExecError?: unknown;
    readonly testResults: readonly { readonly status: string; readonly fullName: string }[];
  }[];
}

/** A reporter for Jest that prints the first test that failed. With `--bail`, Jest writes no other results. */
export default class FirstFailure {
  onRunComplete(_contexts: unknown, { testResults }: Results): void {
    const failed = testResults.find((file) => file.numFailingTests > 0 || file.testExecError !== undefined);
    if (failed === undefined) return;
    const test = failed.testResults.find(({ status }) => status === 'failed')?.fullName ?? 'it does not load';
    const name = test.replaceAll(/\s+/g, ' ');
    process.stdout.write(`\n${FAILURE_PREFIX}${path.relative(process.cwd(), failed.testFilePath)}: ${name}\n`);
  }
}
