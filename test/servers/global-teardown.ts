import { clearRunFolder, runFolder } from './run-folder.ts';

/** Once after all test files: ends what a worker that died has left. */
export default function globalTeardown(): void {
  clearRunFolder(runFolder());
}
