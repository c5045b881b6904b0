import path from 'node:path';
import { readErrorCode, fileVersion, readBoundedText } from './bounded-text.ts';
import type { BoundedText } from './bounded-text.ts';
import { checkValue } from './check-value.ts';
import type { NewFault } from './check-value.ts';
import { parseConfigDocument } from './config-document.ts';
import { ConfigError } from './config-error.ts';
import type { Keys } from './config-locations.ts';
import { listConfigFiles } from './list-config-files.ts';
import { mergeDocuments } from './merge-documents.ts';
import type { EntryKeys } from './merge-documents.ts';
import { openSecretFiles } from './secret-files.ts';
import type { SecretFiles } from './secret-files.ts';

export { ConfigError } from './config-error.ts';

/** A ConfigMap has at most 1 MiB. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;
/** Files that are replaced while they are read are read again, so that no value is put together of old and new ones. */
const READS_MAX = 5;

export interface ConfigFile {
  /** The absolute paths of the files. */
  readonly files: readonly string[];
  /** The checked value, with defaults and without empty values. */
  readonly value: unknown;
  /** Makes an error at a key, for faults that a schema cannot express. */
  readonly fault: NewFault;
  /** The absolute path for a path at a key, which is relative to the file that has the key. */
  resolve(keys: Keys, relative: string): string;
  /** Identifies the content of the files that the value was read from. */
  readonly version: string;
  /** The version that reading again would give. */
  versionNow(): string;
}

/**
 * Reads the YAML files that are named as `listConfigFiles` takes them, puts them together, and checks the value against
 * a JSON Schema with these formats: duration, bytes, host-port, decimal. `${NAME}` and `${NAME:-default}` are replaced
 * by the environment, and `${file:/path}` by the content of a file. An empty value is the same as an absent key. A
 * variable is a string, or a number or a boolean if the schema wants one.
 */
export function readConfigFile(
  named: string,
  schema: object,
  environment: Readonly<Record<string, string | undefined>>,
  entryKeys: EntryKeys = {},
): ConfigFile {
  for (let reads = 1; ; reads += 1) {
    const config = readOnce(named, schema, environment, entryKeys);
    if (reads === READS_MAX || config.versionNow() === config.version) return config;
  }
}

function readOnce(
  named: string,
  schema: object,
  environment: Readonly<Record<string, string | undefined>>,
  entryKeys: EntryKeys,
): ConfigFile {
  const secrets = openSecretFiles();
  const files = listConfigFiles(named);
  const read = files.map((file) => ({ file, ...readText(file) }));
  const variables = { environment, readFile: (file: string) => secrets.read(file) };
  const merged = mergeDocuments(
    read.map(({ file, text }) => parseConfigDocument(file, text, variables)),
    entryKeys,
  );
  const fault = (keys: Keys, expected: string): ConfigError => {
    const { document, keys: within } = merged.locate(keys);
    const key = keys.length === 0 ? 'the file' : within.join('.');
    return new ConfigError(secrets.redact(`${document.file}:${document.findLine(within)}: ${key}: ${expected}`));
  };
  checkValue(merged.value, schema, fault, (keys) => {
    const { document, keys: within } = merged.locate(keys);
    return document.hasVariable(within);
  });
  return {
    files,
    value: merged.value,
    fault,
    resolve: (keys, relative) => path.resolve(path.dirname(merged.locate(keys).document.file), relative),
    version: joinVersions([...read.map(({ file, version }) => [file, version] as const), ...secrets.versions]),
    versionNow: () => readVersionNow(named, secrets),
  };
}

function readText(file: string): BoundedText {
  try {
    return readBoundedText(file, FILE_BYTES_MAX);
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read (${readErrorCode(error)}); name the file in REELGATE_CONFIG`);
  }
}

function readVersionNow(named: string, secrets: SecretFiles): string {
  try {
    const files = [...listConfigFiles(named), ...secrets.versions.keys()];
    return joinVersions(files.map((file) => [file, fileVersion(file)] as const));
  } catch (error) {
    return readErrorCode(error);
  }
}

function joinVersions(files: readonly (readonly [file: string, version: string])[]): string {
  return files.map((one) => one.join(' ')).join('\n');
}
