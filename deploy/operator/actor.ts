import type { Environment } from './environment.ts';

export const ACTOR_OPTION = { value: 'NAME', means: 'who decides, for the record; default: $USER' } as const;

/** Who is written down as the one who decided. */
export function actorOf(named: string | undefined, environment: Environment): string {
  return named ?? environment['USER'] ?? 'operator';
}
