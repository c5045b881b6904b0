import type { ProgramConfig, ServiceName } from './program-config.ts';
import { readProgramConfig } from './program-config.ts';
import { checkStandAlone } from './stand-alone.ts';

export interface ReadConfig {
  readonly config: ProgramConfig;
  readonly warnings: readonly string[];
}

/** The file as it stands, checked for what is to run: all services, or the named one. Throws a ConfigError. */
export function readConfig(
  environment: Readonly<Record<string, string | undefined>>,
  service: ServiceName | undefined,
): ReadConfig {
  const config = readProgramConfig(environment);
  return { config, warnings: [...config.warnings, ...(service === undefined ? [] : checkStandAlone(config, service))] };
}
