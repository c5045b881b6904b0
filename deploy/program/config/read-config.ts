import { existsSync } from 'node:fs';
import path from 'node:path';
import { systemClock } from '@reelgate/platform/clock';
import type { ProgramConfig, ServiceName } from './program-config.ts';
import { readProgramConfig } from './program-config.ts';
import { checkStandAlone } from './stand-alone.ts';
import { checkTlsFiles } from './used-tls.ts';
import { RefusedConfig } from './check-config.ts';
import type { ComparedConfig } from './findings/finding.ts';

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

/**
 * Asks the adapters of operators, in their sandboxes, whether they take the options of their channels: an adapter is
 * code, which may refuse what its schema accepts. Throws a ConfigError with a line for each refusal.
 */
export async function checkOwnAdapters({ file, value, warnings }: ProgramConfig): Promise<void> {
  const { channels, adapters } = value as ComparedConfig;
  const faults = await Promise.all(
    channels.map(async ({ adapter: named, options = {} }, at) => {
      const own = adapters.find(({ name }) => name === named);
      const fault = await own?.adapter.prepare({ options }).then(() => undefined, describeFault);
      if (fault === undefined) return [];
      return [file.fault(['channels', at, 'options'], `the adapter ${named} refuses them: ${fault}`).message];
    }),
  );
  const refused = faults.flat();
  if (refused.length > 0) throw new RefusedConfig(refused, warnings);
}

function describeFault(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
