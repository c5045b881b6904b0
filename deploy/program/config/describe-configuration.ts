import type { GatewayClients } from '@reelgate/gateway/app';
import type { TestedAdapter } from '@reelgate/tasks/config';
import type { StartParts } from '../start-parts.ts';
import type { ConfigState } from '../watch-config.ts';
import { PROGRAM_VERSION } from '../version.ts';
import { RELOADED } from '../watch-config.ts';
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

const MASK = '***';
/** The names of keys whose texts are secrets, wherever they stand: `api_key`, `secret_access_key`, `session_token`. */
const SECRET_NAME = /(^|_)(key|key_id|secret|token|password|passphrase|credential|credentials|authorization)$/i;
/** Sections whose every text is a secret: headers carry credentials under any name. */
const SECRET_SECTIONS: ReadonlySet<string> = new Set(['headers']);
/** `user:password@` after a scheme, or before a host alone. */
const IN_AUTHORITY = /(:\/\/)[^/?#\s]*@/g;
const BEFORE_HOST = /^[^/?#\s@]+@(?=[^\s@/]+$)/;
const IN_QUERY = /(:\/\/[^?\s]*\?).*$/;

/** A configuration without its secrets, for people to read. */
export function maskSecrets(value: unknown): unknown {
  return maskValue(value, '', false);
}

function maskValue(value: unknown, name: string, isInSecrets: boolean): unknown {
  if (Array.isArray(value)) return value.map((one) => maskValue(one, name, isInSecrets));
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value).map(([key, inner]) => [key, maskValue(inner, key, isInSecrets || hidesAll(key, inner))]),
    );
  if (isInSecrets || (typeof value === 'string' && SECRET_NAME.test(name))) return MASK;
  return typeof value === 'string' ? maskAddress(value) : value;
}

function hidesAll(key: string, value: unknown): boolean {
  return SECRET_SECTIONS.has(key) && typeof value === 'object';
}

function maskAddress(text: string): string {
  return text.replace(IN_AUTHORITY, `$1${MASK}@`).replace(BEFORE_HOST, `${MASK}@`).replace(IN_QUERY, `$1${MASK}`);
}
