import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import { checkOwnAdapters } from './check-own-adapters.ts';
import type { ProgramConfig, ServiceName } from './program-config.ts';
import { readProgramConfig } from './program-config.ts';
import { checkStandAlone } from './stand-alone.ts';
import { checkTlsFiles } from './used-tls.ts';

export interface ReadConfig {
  readonly config: ProgramConfig;
  readonly warnings: readonly string[];
}

/** Reads the file and checks it for the program with all services, or for the named service. Throws a ConfigError. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  service: ServiceName | undefined,
): ReadConfig {
  const config = readProgramConfig(environment);
  assertRestored(config);
  checkTlsFiles(config, service, systemClock.now());
  if (service === undefined) assertWhole(config);
  return { config, warnings: [...config.warnings, ...(service === undefined ? [] : checkStandAlone(config, service))] };
}

/** Reads the file as `readConfig` does, and asks the adapters of operators that the process runs. Rejects likewise. */
export async function readRunnableConfig(
  environment: Readonly<Record<string, string | undefined>>,
  service: ServiceName | undefined,
): Promise<ReadConfig> {
  const read = readConfig(environment, service);
  if (service === undefined || service === 'tasks') await checkOwnAdapters(read.config);
  return read;
}

/** The one program needs the keys of every service. */
function assertWhole({ file, serviceKey }: ProgramConfig): void {
  if (serviceKey !== undefined)
    throw file.fault(['service_key'], 'is for a service of its own; expected signing_key, or neither');
}

/** A restore puts the stores here until all of them are whole. */
export function buildRestorePath(dataDir: string): string {
  return path.join(dataDir, 'restoring');
}

/** A start on a part of the stores would make the others anew. */
function assertRestored({ file, dataDir }: ProgramConfig): void {
  if (existsSync(buildRestorePath(dataDir)))
    throw file.fault(['data_dir'], `a restore into ${dataDir} was cut off; empty the folder and restore again`);
}
