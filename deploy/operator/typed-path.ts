import path from 'node:path';
import type { Environment } from './environment.ts';

/** Resolves a path from the folder of the call. npm runs scripts in the repository's root, and gives that folder. */
export function typedPath(environment: Environment, typed: string): string {
  return path.resolve(environment['INIT_CWD'] ?? '.', typed);
}
