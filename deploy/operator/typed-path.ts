import path from 'node:path';
import type { Environment } from './environment.ts';

/** A path as the person meant it: npm runs scripts in the root of the repository, and says where it was called. */
export function typedPath(environment: Environment, typed: string): string {
  return path.resolve(environment['INIT_CWD'] ?? '.', typed);
}
