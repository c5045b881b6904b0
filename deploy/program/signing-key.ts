import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';

const BYTES = 32;
const NAME_BYTES = 8;

/** The configured key, or the one kept in the data folder, made at the first start; processes that start at once agree on one. */
export function signingKeyIn(dataDir: string, configured: Secret | undefined): Secret {
  if (configured !== undefined) return configured;
  const file = path.join(dataDir, 'signing-key');
  const key = readKey(file) ?? makeKey(file);
  if (key === '') throw new Error(`${file} is empty; remove it, and a new key is made`);
  return new Secret(key);
}

function readKey(file: string): string | undefined {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** The file gets its name once it is whole and on the disk: another process finds no key, or all of it. Of two that are made at once the first is everybody's. */
function makeKey(file: string): string {
  mkdirSync(path.dirname(file), { recursive: true });
  const unnamed = `${file}.${newKey('new', NAME_BYTES)}`;
  try {
    writeFileSync(unnamed, newKey('key', BYTES), { flag: 'wx', mode: 0o600, flush: true });
    linkSync(unnamed, file);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST') throw error;
  } finally {
    rmSync(unnamed, { force: true });
  }
  return readFileSync(file, 'utf8');
}

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code;
