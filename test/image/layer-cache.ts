import { createHash } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  utimesSync,
} from 'node:fs';
import os from 'node:os';
import path from 'node:path';

/** A change of a branch and its way back find their layers again. */
const LAYERS_KEPT = 4;

/** The folder for what tests build and later runs can use again. It lies outside of the checkout. */
export const cacheFolder = (): string =>
  path.join(process.env['XDG_CACHE_HOME'] ?? path.join(os.homedir(), '.cache'), 'reelgate');

export const digestOf = (parts: readonly (string | Buffer)[]): string => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(`${part.length}:`).update(part);
  return hash.digest('hex').slice(0, 32);
};

/**
 * The folder `kind/digest` of the cache, which `build` fills the first time. Runs at the same time may both build; one
 * of them wins. The oldest folders of a kind are removed.
 */
export function cachedLayer(kind: string, digest: string, build: (into: string) => void): string {
  const folder = path.join(cacheFolder(), kind);
  const layer = path.join(folder, digest);
  if (!existsSync(layer)) {
    mkdirSync(folder, { recursive: true });
    const unfinished = mkdtempSync(path.join(folder, '.unfinished-'));
    chmodSync(unfinished, 0o755);
    try {
      build(unfinished);
      renameSync(unfinished, layer);
    } catch (error) {
      if (!existsSync(layer)) throw error;
    } finally {
      rmSync(unfinished, { recursive: true, force: true });
    }
  }
  const now = new Date();
  utimesSync(layer, now, now);
  removeOldest(folder);
  return layer;
}

function removeOldest(folder: string): void {
  const byAge = readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .map((name) => path.join(folder, name))
    .sort((a, b) => statSync(b).mtimeMs - statSync(a).mtimeMs);
  for (const old of byAge.slice(LAYERS_KEPT)) rmSync(old, { recursive: true, force: true });
}
