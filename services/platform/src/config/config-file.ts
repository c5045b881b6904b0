import path from 'node:path';
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { readErrorCode, fileVersion, readBoundedText } from './bounded-text.ts';
import type { BoundedText } from './bounded-text.ts';
import { checkValue } from './check-value.ts';
import type { NewFault } from './check-value.ts';
import { parseConfigDocument, ConfigError } from './config-document.ts';
import type { Keys } from './config-locations.ts';
import { mergeDocuments } from './merge-documents.ts';
import type { EntryKeys } from './merge-documents.ts';

export { ConfigError } from './config-document.ts';

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

/** A schema that depends on the value, and the further files that it was read from, each with its version. */
export interface SchemaOfValue {
  readonly schema: object;
  readonly files: readonly (readonly [file: string, version: string])[];
}

/** Returns the schema for a value that nothing has checked yet. Throws a fault at a key. */
export type ReadSchema = (value: unknown, at: Pick<ConfigFile, 'fault' | 'resolve'>) => SchemaOfValue;

/**
 * Reads the YAML files that are named as `listConfigFiles` takes them, puts them together, and checks the value against
 * a JSON Schema with these formats: duration, bytes, host-port, decimal. `${NAME}` and `${NAME:-default}` are replaced
 * by the environment, and `${file:/path}` by the content of a file. An empty value is the same as an absent key. A
 * variable is a string, or a number or a boolean if the schema wants one.
 */
export function readConfigFile(
  named: string,
  schema: object | ReadSchema,
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
  schema: object | ReadSchema,
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
  const resolve: ConfigFile['resolve'] = (keys, relative) =>
    path.resolve(path.dirname(merged.locate(keys).document.file), relative);
  const checked = isReadSchema(schema) ? schema(merged.value, { fault, resolve }) : { schema, files: [] };
  checkValue(merged.value, checked.schema, fault, (keys) => {
    const { document, keys: within } = merged.locate(keys);
    return document.hasVariable(within);
  });
  return {
    files,
    value: merged.value,
    fault,
    resolve,
    version: joinVersions([
      ...read.map(({ file, version }) => [file, version] as const),
      ...secrets.versions,
      ...checked.files,
    ]),
    versionNow: () => readVersionNow(named, [...secrets.versions.keys(), ...checked.files.map(([file]) => file)]),
  };
}

function isReadSchema(schema: object | ReadSchema): schema is ReadSchema {
  return typeof schema === 'function';
}

function readText(file: string): BoundedText {
  try {
    return readBoundedText(file, FILE_BYTES_MAX);
  } catch (error) {
    throw new ConfigError(`${file}: cannot be read (${readErrorCode(error)}); name the file in REELGATE_CONFIG`);
  }
}

function readVersionNow(named: string, further: readonly string[]): string {
  try {
    const files = [...listConfigFiles(named), ...further];
    return joinVersions(files.map((file) => [file, fileVersion(file)] as const));
  } catch (error) {
    return readErrorCode(error);
  }
}

function joinVersions(files: readonly (readonly [file: string, version: string])[]): string {
  return files.map((one) => one.join(' ')).join('\n');
}

const SEPARATOR = ':';
const EXTENSION = '.yaml';
const FILES_MAX = 256;

/**
 * The files of the configuration, each once: the named files, and the `*.yaml` files of the named folders in the order
 * of their names. A mounted ConfigMap has hidden folders with the files, and visible links to them. Hidden names are
 * passed over, and links are followed.
 */
function listConfigFiles(named: string): readonly string[] {
  const names = named.split(SEPARATOR).filter((name) => name !== '');
  const files = names.map((name) => path.resolve(name)).flatMap((name) => (isFolder(name) ? listFolder(name) : [name]));
  const places = files.map(resolveLinks);
  const once = files.filter((_file, at) => places.indexOf(places[at] ?? '') === at);
  if (once.length > FILES_MAX)
    throw new ConfigError(`${named}: has ${once.length} files; expected at most ${FILES_MAX}`);
  return once;
}

function listFolder(folder: string): string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(EXTENSION) && !name.startsWith('.'));
  if (names.length === 0)
    throw new ConfigError(`${folder}: has no *${EXTENSION} file; expected the files of the configuration`);
  return names.toSorted().map((name) => path.join(folder, name));
}

function isFolder(name: string): boolean {
  try {
    return statSync(name).isDirectory();
  } catch (error) {
    throw new ConfigError(`${name}: cannot be read (${readErrorCode(error)}); name the file in REELGATE_CONFIG`);
  }
}

/** Returns the path of the content behind links. A broken link stays as it is; reading it reports the fault. */
function resolveLinks(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return file;
  }
}

/** A private key with its certificates takes a few KiB. */
const SECRET_BYTES_MAX = 64 * 1024;

/** The files that a configuration takes values from. */
interface SecretFiles {
  /** The text of a file without the newline at its end. Throws an Error that says what is wrong and expected. */
  read(file: string): string;
  /** The absolute path and the version of each file that was read. */
  readonly versions: ReadonlyMap<string, string>;
  /** Replaces each text that was read by `***`. */
  redact(message: string): string;
}

function openSecretFiles(): SecretFiles {
  const versions = new Map<string, string>();
  const texts = new Map<string, string>();
  return {
    versions,
    read: (file) => {
      const known = texts.get(file);
      if (known !== undefined) return known;
      const { text, version } = readSecret(file);
      const value = text.replace(/\r?\n$/, '');
      if (value === '') throw new Error(`the file ${file} is empty; expected the value`);
      versions.set(file, version);
      texts.set(file, value);
      return value;
    },
    redact: (message) =>
      [...texts.values()]
        .toSorted((left, right) => right.length - left.length)
        .reduce((redacted, text) => redacted.replaceAll(text, '***'), message),
  };
}

function readSecret(file: string) {
  if (!path.isAbsolute(file)) throw new Error(`expected an absolute path after file:, not ${file}`);
  try {
    return readBoundedText(file, SECRET_BYTES_MAX);
  } catch (error) {
    throw new Error(`the file ${file} cannot be read (${readErrorCode(error)}); expected a file with the value`, {
      cause: error,
    });
  }
}
