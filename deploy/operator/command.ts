import type { Services } from './connect-services.ts';
import type { Environment } from './environment.ts';
import type { Terminal } from './terminal.ts';

export interface OptionSpec {
  /** What stands behind the option, in capitals; an option without it is a switch. */
  readonly value?: string;
  /** One line of the help. */
  readonly means: string;
  readonly short?: string;
  /** The command refuses to run without it. */
  readonly needed?: true;
  /** The only values that it takes. */
  readonly choices?: readonly string[];
}

type Specs = Readonly<Record<string, OptionSpec>>;

/** The options that were typed: a text where the option takes a value, else whether it was there. */
export type Options<S extends Specs> = { readonly [N in keyof S]?: S[N] extends { value: string } ? string : boolean };

/** What a command is given to run with. */
export interface Call<S extends Specs = Specs> {
  /** What was typed behind the words of the command. */
  readonly words: readonly string[];
  readonly options: Options<S>;
  /** The services, over gRPC. The first use of one connects. */
  readonly services: Services;
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** Whether standard output gets one JSON document. */
  readonly json: boolean;
}

export interface Outcome {
  /** One JSON document; absent: the text is all there is, also with --json. */
  readonly answer?: unknown;
  /** The answer for a person; absent: the answer line by line. */
  readonly text?: string;
  /** `false` makes the exit code 1. */
  readonly ok?: boolean;
  /** Replaces the exit code that `ok` gives. */
  readonly exitCode?: number;
}

export interface Command<S extends Specs = Specs> {
  /** One line, for the list of all commands. */
  readonly summary: string;
  /** What stands behind the words of the command, such as `ID AMOUNT`; empty for nothing. */
  readonly words: string;
  /** The only values that the first of those words takes. */
  readonly choices?: readonly string[];
  readonly options: S;
  /** A whole call, without the name of the program. */
  readonly example: string;
  run(call: Call<S>): Promise<Outcome>;
}

/** A command of the table; `run` knows the types of its own options. */
export function defineCommand<const S extends Specs>(command: Command<S>): Command {
  return command;
}

/** The command was called wrongly; the exit code is 2. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** The command could not do what was asked; the message says why, and the exit code is 1. */
export class CommandFailed extends Error {
  override readonly name: string = 'CommandFailed';
}

/** The only word behind the command. */
export function oneId(words: readonly string[], what: string): string {
  const [id, ...rest] = words;
  if (id === undefined || rest.length > 0) throw new WrongCall(`name one ${what}`);
  return id;
}

export function noWords(words: readonly string[]): void {
  if (words.length > 0) throw new WrongCall(`unexpected ${words.join(' ')}; this command takes options alone`);
}
