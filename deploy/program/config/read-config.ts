import { systemClock } from '@reelgate/platform/clock';
import type { ProgramConfig, ServiceName } from './program-config.ts';
import { readProgramConfig } from './program-config.ts';
import { assertRestored } from '../unfinished-restore.ts';
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

/** The one program needs the keys of every service. */
function assertWhole({ file, serviceKey }: ProgramConfig): void {
  if (serviceKey !== undefined)
    throw file.fault(['service_key'], 'is for a service of its own; expected signing_key, or neither');
}
