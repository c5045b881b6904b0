import { existsSync } from 'node:fs';
import path from 'node:path';
import { ROOT } from './dockerfile.ts';

interface LockEntry {
  readonly dev?: boolean;
  readonly link?: boolean;
  /** The folder that a link names. */
  readonly resolved?: string;
}

/** The Dockerfile removes it: the base image has Node. */
const REMOVED = /^node_modules\/node-linux-/;

/** The folders and links that `npm ci --omit=dev` installs, and that the Dockerfile keeps. */
export function productionPackages(lock: string): readonly string[] {
  const { packages } = JSON.parse(lock) as { packages: Readonly<Record<string, LockEntry>> };
  return Object.entries(packages)
    .filter(([location]) => /(^|\/)node_modules\//.test(location))
    .filter(([, entry]) => (entry.link === true ? packages[entry.resolved ?? ''] : entry)?.dev !== true)
    .map(([location]) => location)
    .filter((location) => !REMOVED.test(location) && existsSync(path.join(ROOT, location)));
}
