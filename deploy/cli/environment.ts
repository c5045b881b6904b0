import path from 'node:path';

export type Environment = Readonly<Record<string, string | undefined>>;

export const ACTOR_OPTION = { value: 'NAME', means: 'your name, for the record; default: $USER' } as const;

/** The name that the services record for the decisions of this command line. */
export function readActor(named: string | undefined, environment: Environment): string {
  return named ?? environment['USER'] ?? 'operator';
}

const SEPARATOR = ':';

/** Resolves each of the paths that are separated by colons. */
export function resolveTypedPaths(environment: Environment, typed: string): string {
  return typed
    .split(SEPARATOR)
    .map((one) => (one === '' ? one : resolveTypedPath(environment, one)))
    .join(SEPARATOR);
}

/** Resolves a path from the folder of the call. npm runs scripts in the repository's root, and passes that folder. */
export function resolveTypedPath(environment: Environment, typed: string): string {
  return path.resolve(environment['INIT_CWD'] ?? '.', typed);
}
