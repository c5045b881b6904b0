import { clearAbandonedRuns, runFolder } from './run-folder.ts';

/** Runs once before all test files: creates the folder of this run. A test that needs a server installs and starts it. */
export default function globalSetup(): void {
  clearAbandonedRuns();
  runFolder();
}
