import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';

export const SIGNING_KEY_FILE = 'signing-key';
const BYTES = 32;
const NAME_BYTES = 8;

/** A signing key in addition to the current one. */
export interface OtherSigningKey {
  readonly key: Secret;
  /** With `tokens` the key is known to others, so its signatures are refused. It only finds tokens that it hashed. */
  readonly accept: 'all' | 'tokens';
}

export function toAcceptedKeys(current: Secret, others: readonly OtherSigningKey[]): AcceptedKeys {
  return {
    signatures: [current, ...others.filter(({ accept }) => accept === 'all').map(({ key }) => key)],
    tokens: [current, ...others.map(({ key }) => key)],
  };
}

/**
 * Returns the configured key, or the key in the data folder. The first start creates that key. Processes that start at
 * the same time agree on one.
 */
export function openSigningKey(dataDir: string, configured: Secret | undefined): Secret {
  if (configured !== undefined) return configured;
  const file = path.join(dataDir, SIGNING_KEY_FILE);
  const key = readKey(file) ?? createKey(file);
  if (key === '') throw new Error(`${file} is empty; remove the file, and the next start creates a new key`);
  return new Secret(key);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (readErrorCode(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * Creates a key. The file gets its name once it is complete and on the disk, so another process finds either no key or
 * the whole key. If two processes create a key at the same time, both use the first one.
 */
function createKey(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true, mode: 0o700 });
  const unnamed = `${file}.${newKey('new', NAME_BYTES)}`;
  try {
    writeFileSync(unnamed, newKey('key', BYTES), { flag: 'wx', mode: 0o600, flush: true });
    linkSync(unnamed, file);
  } catch (error) {
    if (readErrorCode(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unnamed, { force: true });
  }
  return readFileSync(file, 'utf8');
}

const readErrorCode = (error: unknown): unknown => (error as { code?: unknown }).code;
