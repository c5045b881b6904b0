import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { systemClock } from '@reelgate/platform/clock';
import type { Sleeper } from '@reelgate/platform/clock';
import { readBoundedText, readErrorCode } from '@reelgate/platform/config/bounded-text';
import { findNameFault } from './adapter-name.ts';
import { askForFacts } from './adapter-facts.ts';
import type { AdapterFacts } from './adapter-facts.ts';
import { OwnAdapterFault, newSandbox } from './sandbox/new-sandbox.ts';
import { checkTestRecord, hashText } from './test-record.ts';
import { wrapAdapter } from './wrap-adapter.ts';
import type { OwnAdapter } from './wrap-adapter.ts';
import type { ChannelSettings } from '../channel.ts';

const FILE_BYTES_MAX = 512 * 1024;
/** A configuration has far fewer. */
const LOADED_MAX = 64;

/** An adapter in its sandbox, with its own description. */
export interface OpenedAdapter {
  /** The base name of its file. */
  readonly name: string;
  readonly adapter: OwnAdapter;
  readonly facts: AdapterFacts;
  /** The text that was loaded. */
  readonly text: string;
}

/** An adapter that has passed its tests as it is. */
export interface TestedAdapter {
  /** The name that the configuration of a channel uses. */
  readonly name: string;
  readonly file: string;
  /** Of its text. */
  readonly sha256: string;
  readonly adapter: OwnAdapter;
}

/** Adapters by their files, texts and facts: a reload keeps the sandboxes of those that have not changed. */
const loaded = new Map<string, TestedAdapter>();

/**
 * Reads the adapter of an operator, and refuses an adapter that has not passed its tests. Throws an `OwnAdapterFault`.
 * Its code does not run: its facts come from the record. Its sandbox starts when it is prepared, which rejects if they
 * differ.
 */
export function loadTestedAdapter(file: string): TestedAdapter {
  const name = readName(file);
  const text = readAdapterText(file);
  const facts = checkTestRecord(file, text);
  const sha256 = hashText(text);
  const key = JSON.stringify([file, sha256, facts]);
  const known = loaded.get(key) ?? { name, file, sha256, adapter: newTestedAdapter(file, text, facts) };
  loaded.delete(key);
  loaded.set(key, known);
  for (const oldest of loaded.keys()) if (loaded.size > LOADED_MAX) loaded.delete(oldest);
  return known;
}

function newTestedAdapter(file: string, text: string, facts: AdapterFacts): OwnAdapter {
  const sandbox = newSandbox({ file, text });
  const adapter = wrapAdapter(facts, sandbox);
  return {
    ...adapter,
    prepare: async (asked) => {
      if (!isDeepStrictEqual(await askForFacts(file, text, sandbox), facts))
        throw new OwnAdapterFault(file, 1, `says other facts than in its tests; run \`reelgate adapter test ${file}\``);
      await adapter.prepare(asked);
    },
  };
}

/** Opens the adapter of an operator, tested or not. Throws an `OwnAdapterFault`. */
export async function loadOwnAdapter(file: string, clock: Sleeper = systemClock): Promise<OpenedAdapter> {
  const name = readName(file);
  const text = readAdapterText(file);
  const sandbox = newSandbox({ file, text }, clock);
  try {
    const facts = await askForFacts(file, text, sandbox);
    return { name, adapter: wrapAdapter(facts, sandbox), facts, text };
  } catch (error) {
    await sandbox.close();
    throw error;
  }
}

function readName(file: string): string {
  const name = path.basename(file, '.ts');
  const fault = file.endsWith('.ts') ? findNameFault(name) : 'expected a name that ends with .ts';
  if (fault !== undefined) throw new OwnAdapterFault(file, 1, fault);
  return name;
}

function readAdapterText(file: string): string {
  try {
    return readBoundedText(file, FILE_BYTES_MAX).text;
  } catch (error) {
    throw new OwnAdapterFault(file, 1, `cannot be read (${readErrorCode(error)})`);
  }
}

/**
 * Prepares the adapters of operators for the options of their channels, and returns the same configuration. Rejects if
 * one refuses them.
 */
export async function prepareOwnAdapters<Config extends { readonly channels: readonly ChannelSettings[] }>(
  config: Config,
): Promise<Config> {
  await Promise.all(
    config.channels.map(async ({ ownAdapter, options }) => {
      await ownAdapter?.adapter.prepare?.({ options });
    }),
  );
  return config;
}
