import type { Services } from './connect-services.ts';

/** The limits that a token can have of its own. */
export type OwnLimit = 'creates-per-minute' | 'reads-per-minute' | 'calls-per-minute' | 'in-flight';

/** What was typed behind a command's two words. */
export interface Words {
  readonly ids: readonly string[];
  readonly options: Readonly<
    Partial<
      Record<
        | 'account'
        | 'models'
        | 'limit'
        | 'expires'
        | 'name'
        | 'reason'
        | 'as'
        | 'state'
        | 'after'
        | 'actor'
        | 'from'
        | 'to'
        | 'by'
        | OwnLimit,
        string
      >
    >
  > & { readonly quick?: boolean };
}

export interface Command {
  /** What goes behind the two words. */
  readonly usage: string;
  /** The answer as one JSON document; `ok: false` makes the exit code 1. */
  run(services: Services, words: Words): Promise<{ readonly answer: unknown; readonly ok?: boolean }>;
}

/** The command was called wrongly: the usage is shown, and the exit code is 2. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** The only word behind the command. */
export function oneId({ ids }: Words, what: string): string {
  const [id, ...rest] = ids;
  if (id === undefined || rest.length > 0) throw new WrongCall(`name one ${what}`);
  return id;
}

export function noIds({ ids }: Words): void {
  if (ids.length > 0) throw new WrongCall(`${ids.join(' ')} is too much`);
}
