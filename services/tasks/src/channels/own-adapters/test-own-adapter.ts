import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describeAdapterContract } from '../adapter-contract/describe-adapter-contract.ts';
import { openScriptedUpstream } from '../adapter-contract/scripted-upstream.ts';
import { loadOwnAdapter } from './load-own-adapter.ts';

const FIXTURES_MAX = 32;
const KIT_PACKAGE = path.join(import.meta.dirname, '../../../adapter-kit/package.json');

export interface TestedCase {
  readonly name: string;
  /** Undefined: the adapter keeps the guarantee. */
  readonly failure: string | undefined;
}

/** Loads an adapter, runs the contract suite over it, and writes `<name>.tested.json` beside it if all cases pass. */
export async function testOwnAdapter(
  file: string,
  show: (tested: TestedCase) => void = () => undefined,
): Promise<readonly TestedCase[]> {
  const { name, adapter, text } = loadOwnAdapter(file);
  const beside = path.join(path.dirname(file), name);
  const fixtures = `${beside}.fixtures`;
  const cases = describeAdapterContract({ name, adapter, fixtures });
  const upstream = await openScriptedUpstream();
  const tested: TestedCase[] = [];
  try {
    for (const one of cases) {
      const failure = await one.run(upstream).then(() => undefined, describeFailure);
      tested.push({ name: one.name, failure });
      show({ name: one.name, failure });
    }
  } finally {
    await upstream.close();
  }
  if (tested.every(({ failure }) => failure === undefined)) {
    const record = { adapter: hashTexts([text]), fixtures: hashFixtures(fixtures), kit: readKitVersion() };
    writeFileSync(`${beside}.tested.json`, `${JSON.stringify(record, undefined, 2)}\n`);
  }
  return tested;
}

function describeFailure(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? `${message}: ${cause.message}` : message;
}

function hashFixtures(folder: string): string {
  const names = readdirSync(folder).filter((name) => name.endsWith('.json'));
  if (names.length > FIXTURES_MAX) throw new Error(`${folder} has more than ${FIXTURES_MAX} files`);
  return hashTexts(names.toSorted().flatMap((name) => [name, readFileSync(path.join(folder, name), 'utf8')]));
}

/** The SHA-256 of texts, each with its length, so that no two lists have the same one. */
function hashTexts(texts: readonly string[]): string {
  const hash = createHash('sha256');
  for (const text of texts) hash.update(texts.length === 1 ? text : `${text.length}\n${text}`);
  return hash.digest('hex');
}

function readKitVersion(): string {
  return (JSON.parse(readFileSync(KIT_PACKAGE, 'utf8')) as { readonly version: string }).version;
}
