import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { readBoundedText, readErrorCode } from '@reelgate/platform/config/bounded-text';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { readObject } from '@reelgate/adapter-kit/kit';
import { checkFacts } from './adapter-facts.ts';
import type { AdapterFacts } from './adapter-facts.ts';
import { readPlainJson } from './results/shapes.ts';
import { OwnAdapterFault } from './sandbox/new-sandbox.ts';

const RECORD_BYTES_MAX = 1024 * 1024;
const FIXTURES_MAX = 32;
const KIT_PACKAGE = path.join(import.meta.dirname, '../../../adapter-kit/package.json');

/** Returns the folder of an adapter's fixtures. */
export function buildFixturesPath(file: string): string {
  return `${removeEnding(file)}.fixtures`;
}

/** Returns the file that says that an adapter has passed its tests. */
export function buildRecordPath(file: string): string {
  return `${removeEnding(file)}.tested.json`;
}

/**
 * Records that an adapter with this text and these facts has passed its tests: the SHA-256 of both parts, the version of
 * the kit, and the facts, which a reader of the configuration needs without running the adapter.
 */
export function writeTestRecord(file: string, text: string, facts: AdapterFacts): void {
  const fixtures = hashFixtures(buildFixturesPath(file));
  const record = { adapter: hashText(text), fixtures, kit: readKitVersion(), facts };
  writeFileSync(buildRecordPath(file), `${JSON.stringify(record, undefined, 2)}\n`);
}

/**
 * Returns the recorded facts of an adapter, and refuses one that has not passed its tests as it is. Throws an
 * `OwnAdapterFault`. Fixtures count only where they are: a service can run without them.
 */
export function checkTestRecord(file: string, text: string): AdapterFacts {
  const { adapter, fixtures, kit, facts } = readTestRecord(file);
  const remedy = `run \`reelgate adapter test ${file}\``;
  const folder = buildFixturesPath(file);
  if (adapter !== hashText(text))
    throw new OwnAdapterFault(file, 1, `has changed since it passed its tests; ${remedy}`);
  if (existsSync(folder) && fixtures !== hashFixtures(folder))
    throw new OwnAdapterFault(file, 1, `its fixtures have changed since it passed its tests; ${remedy}`);
  const version = readKitVersion();
  if (readMajor(kit) !== readMajor(version))
    throw new OwnAdapterFault(file, 1, `has passed its tests with kit ${String(kit)}, not ${version}; ${remedy}`);
  if (facts === undefined)
    throw new OwnAdapterFault(file, 1, `has passed its tests with an older program, which kept no facts; ${remedy}`);
  const record = path.basename(buildRecordPath(file));
  return checkFacts(
    readObject(facts),
    (keys, expected) =>
      new ConfigError(`${file}:1: ${record}: ${['facts', ...keys].join('.')}: ${expected}; ${remedy}`),
  );
}

function readTestRecord(file: string): Readonly<Record<string, unknown>> {
  const record = buildRecordPath(file);
  const remedy = `run \`reelgate adapter test ${file}\``;
  if (!existsSync(record)) throw new OwnAdapterFault(file, 1, `has not passed its tests; ${remedy}`);
  try {
    return readObject(readPlainJson(readBoundedText(record, RECORD_BYTES_MAX).text));
  } catch (error) {
    const reason = error instanceof SyntaxError ? 'no JSON' : readErrorCode(error);
    throw new OwnAdapterFault(file, 1, `the record of its tests ${record} cannot be read (${reason}); ${remedy}`);
  }
}

export function hashText(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

/** The SHA-256 of the fixtures: each name and each text with its length, so that no two folders have the same one. */
function hashFixtures(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length > FIXTURES_MAX) throw new Error(`${folder} has more than ${FIXTURES_MAX} files`);
  const hash = createHash('sha256');
  for (const text of names.toSorted().flatMap((name) => [name, readFileSync(path.join(folder, name), 'utf8')]))
    hash.update(`${text.length}\n${text}`);
  return hash.digest('hex');
}

function readKitVersion(): string {
  return (JSON.parse(readFileSync(KIT_PACKAGE, 'utf8')) as { readonly version: string }).version;
}

function readMajor(version: unknown): string {
  return String(version).split('.')[0] ?? '';
}

function removeEnding(file: string): string {
  return file.slice(0, -path.extname(file).length);
}
