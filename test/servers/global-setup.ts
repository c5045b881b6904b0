import { installMissing } from './install-missing.ts';
import { clearAbandonedRuns, runFolder } from './run-folder.ts';

/** Once before all test files: makes the folder of this run and installs the servers that are missing. Starts none. */
export default function globalSetup(): void {
  clearAbandonedRuns();
  runFolder();
  installMissing((line) => process.stderr.write(`${line}\n`));
}
