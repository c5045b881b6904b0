import { installMissing } from './install-missing.ts';
import { clearAbandonedRuns, runFolder } from './run-folder.ts';

/** Runs once before all test files: makes the folder of this run and installs missing servers. It starts none. */
export default function globalSetup(): void {
  clearAbandonedRuns();
  runFolder();
  installMissing((line) => process.stderr.write(`${line}\n`));
}
