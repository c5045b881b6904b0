import { endLeasedServers } from './lease-server.ts';
import { clearRunFolder, runFolder } from './run-folder.ts';

/** Runs once after all test files: ends the servers that the files shared, and those that a dead worker has left. */
export default async function globalTeardown(): Promise<void> {
  await endLeasedServers();
  clearRunFolder(runFolder());
}
