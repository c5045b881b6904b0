import type { GatewayClients } from '@reelgate/gateway/app';
import type { TestedAdapter } from '@reelgate/tasks/config';
import type { StartParts } from '../start-parts.ts';
import type { ConfigState } from '../watch-config.ts';
import { PROGRAM_VERSION } from '../version.ts';
import { maskSecrets } from './mask-secrets.ts';
import { RELOADED } from './pending-settings.ts';
import type { LoadedConfig } from './program-config.ts';

type ConfigurationView = ReturnType<GatewayClients['operator']['configuration']>;
type Section = Readonly<Record<string, unknown>>;

/** Creates the function through which the gateway shows the configuration. */
export function newConfigurationReader({ config, foundation, diagnosis }: StartParts): () => ConfigurationView {
  const startedAt = foundation.clock.now();
  return () => describeConfiguration(config, diagnosis.configuration(), startedAt);
}

/**
 * Describes the configuration that the process runs with: the keys that a reload applies as they were last applied, and
 * the rest as it was at the start.
 */
export function describeConfiguration(
  started: LoadedConfig,
  state: ConfigState | undefined,
  startedAt: number,
): ConfigurationView {
  const before = omitAdapterCode(started.value);
  const newest = omitAdapterCode(state?.value ?? started.value);
  const reloaded = Object.entries(newest).filter(([key]) => RELOADED.includes(key));
  const effective = maskSecrets({ ...before, ...Object.fromEntries(reloaded) });
  const inFiles = maskSecrets(newest);
  return {
    effective,
    files: started.file.files,
    differences: (state?.pending ?? []).map((key) => ({
      key,
      running: valueAt(effective, key),
      file: valueAt(inFiles, key),
      needsStart: true,
    })),
    appliedAt: state?.appliedAt ?? startedAt,
    refused: state?.refused,
    warnings: started.warnings,
    version: PROGRAM_VERSION,
  };
}

/** Of an adapter of an operator, the name, the file and the SHA-256 tell which one runs. */
function omitAdapterCode(value: unknown): Section {
  const { adapters = [], ...rest } = value as Section & { readonly adapters?: readonly TestedAdapter[] };
  return { ...rest, adapters: adapters.map(({ name, file, sha256 }) => ({ name, file, sha256 })) };
}

/** Pending keys are those of sections, which have no dots. */
function valueAt(value: unknown, key: string): unknown {
  return key.split('.').reduce<unknown>((section, name) => (section as Section | undefined)?.[name], value) ?? null;
}
