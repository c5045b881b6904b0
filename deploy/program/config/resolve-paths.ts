import type { Keys } from '@reelgate/platform/config/config-locations';
import { TLS_FILES } from '@reelgate/platform/tls/tls-material';
import { POSTGRES_FILES } from '@reelgate/platform/sql/postgres-tls';

type Value = Readonly<Record<string, unknown>>;

/** Addresses whose query names files. */
const ADDRESSES: readonly (readonly [section: string, key: string, names: readonly string[]])[] = [
  ['tasks', 'database', POSTGRES_FILES],
  ['billing', 'database', POSTGRES_FILES],
  ['media', 'database', POSTGRES_FILES],
  ['media', 'blobs', ['ca']],
  ['gateway', 'redis', TLS_FILES],
  ['tasks', 'redis', TLS_FILES],
];
/** No path: the authorities of the system. */
const SYSTEM = 'system';

/** Makes the paths in the addresses of a checked configuration absolute. */
export function resolvePaths<V extends object>(value: V, resolve: (keys: Keys, file: string) => string): V {
  const whole = value as Value;
  const changed: Record<string, unknown> = { ...whole };
  for (const [name, key, names] of ADDRESSES) {
    const section = (changed[name] ?? {}) as Value;
    const address = section[key];
    if (typeof address === 'string')
      changed[name] = { ...section, [key]: resolveQuery(address, names, (file) => resolve([name, key], file)) };
  }
  return changed as V;
}

function resolveQuery(address: string, names: readonly string[], resolve: (file: string) => string): string {
  if (!URL.canParse(address)) return address;
  const url = new URL(address);
  const named = names.filter((name) => ![null, SYSTEM].includes(url.searchParams.get(name)));
  for (const name of named) url.searchParams.set(name, resolve(url.searchParams.get(name) ?? ''));
  return named.length === 0 ? address : url.href;
}
