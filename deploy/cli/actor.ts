import type { Environment } from './environment.ts';

export const ACTOR_OPTION = { value: 'NAME', means: 'your name, for the record; default: $USER' } as const;

/** The name that the services record for the decisions of this command line. */
export function readActor(named: string | undefined, environment: Environment): string {
  return named ?? environment['USER'] ?? 'operator';
}
