import type { SecureContextOptions } from 'node:tls';
import { rereadTls } from './reread-tls.ts';
import { TLS_FILES } from './tls-material.ts';

/** The certificates that an address names in its query: `?ca=…&certificate=…&key=…`. Throws if a file is unusable. */
export function addressTls(address: string): SecureContextOptions {
  const { searchParams } = new URL(address);
  const named = TLS_FILES.flatMap((name) => {
    const file = searchParams.get(name);
    return file === null ? [] : [[name, file] as const];
  });
  return named.length === 0 ? {} : rereadTls(Object.fromEntries(named))();
}
