import { existsSync } from 'node:fs';
import path from 'node:path';
import type { ProgramConfig } from './config/program-config.ts';

/** A restore puts the stores here until all of them are whole. */
export function buildRestorePath(dataDir: string): string {
  return path.join(dataDir, 'restoring');
}

/** A start on a part of the stores would make the others anew. */
export function assertRestored({ file, dataDir }: ProgramConfig): void {
  if (existsSync(buildRestorePath(dataDir)))
    throw file.fault(['data_dir'], `a restore into ${dataDir} was cut off; empty the folder and restore again`);
}
