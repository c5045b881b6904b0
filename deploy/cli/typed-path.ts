import path from 'node:path';
import type { Environment } from './environment.ts';

const SEPARATOR = ':';

/** Resolves each of the paths that are separated by colons. */
export function resolveTypedPaths(environment: Environment, typed: string): string {
  return typed
    .split(SEPARATOR)
    .map((one) => (one === '' ? one : resolveTypedPath(environment, one)))
    .join(SEPARATOR);
}

/** Resolves a path from the folder of the call. npm runs scripts in the repository's root, and gives that folder. */
export function resolveTypedPath(environment: Environment, typed: string): string {
  return path.resolve(environment['INIT_CWD'] ?? '.', typed);
}
