import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { newKey } from '@reelgate/platform/ids';
import { Secret } from '@reelgate/platform/secret';

const BYTES = 32;

/** The configured key, or the one kept in the data folder, made at the first start; processes that start at once agree on one. */
export function signingKeyIn(dataDir: string, configured: Secret | undefined): Secret {
  if (configured !== undefined) return configured;
  const file = path.join(dataDir, 'signing-key');
  mkdirSync(dataDir, { recursive: true });
  try {
    writeFileSync(file, newKey('key', BYTES), { flag: 'wx', mode: 0o600 });
  } catch (error) {
    if ((error as { code?: unknown }).code !== 'EEXIST') throw error;
  }
  return new Secret(readFileSync(file, 'utf8'));
}
