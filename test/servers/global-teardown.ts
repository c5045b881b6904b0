import { clearRunFolder, runFolder } from './run-folder.ts';

/** Runs once after all test files: ends the servers that a dead worker has left. */
export default function globalTeardown(): void {
  clearRunFolder(runFolder());
}
