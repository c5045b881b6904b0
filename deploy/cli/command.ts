import type { Services } from './connect-services.ts';
import type { Environment } from './environment.ts';
import type { Terminal } from './terminal.ts';

export interface OptionSpec {
  /** The name of the option's value, in capitals. An option without a value is a switch. */
  readonly value?: string;
  /** One line of the help. */
  readonly means: string;
  readonly short?: string;
  /** The command refuses to run without it. */
  readonly needed?: true;
  /** The only values that the option takes. */
  readonly choices?: readonly string[];
}

type Specs = Readonly<Record<string, OptionSpec>>;

/** The typed options: the text of an option that takes a value, else whether the option was typed. */
export type Options<S extends Specs> = { readonly [N in keyof S]?: S[N] extends { value: string } ? string : boolean };

/** The input of a command, and the services and the terminal that it uses. */
export interface Call<S extends Specs = Specs> {
  /** The arguments after the words of the command. */
  readonly words: readonly string[];
  readonly options: Options<S>;
  /** The services, over gRPC. The first use of one connects. */
  readonly services: Services;
  readonly environment: Environment;
  readonly terminal: Terminal;
  /** True if standard output is one JSON document. */
  readonly json: boolean;
  /** Prints a part of a text answer before its end. With --json it does not print. */
  readonly print: (text: string) => void;
}

export interface Outcome {
  /** The answer with --json, in which each message is written as its contract's JSON; the text if absent. */
  readonly answer?: unknown;
  /** The answer for a person; if absent, the fields of the answer, line by line. */
  readonly text?: string;
  /** The exit code is 1 if this is `false`. */
  readonly ok?: boolean;
  /** Replaces the exit code that follows from `ok`. */
  readonly exitCode?: number;
}

export interface Command<S extends Specs = Specs> {
  /** One line, for the list of all commands. */
  readonly summary: string;
  /** The arguments after the words of the command, such as `ID AMOUNT`; empty for a command without arguments. */
  readonly words: string;
  /** The only values that the first argument takes. */
  readonly choices?: readonly string[];
  readonly options: S;
  /** A complete call, without the name of the program. */
  readonly example: string;
  run(call: Call<S>): Promise<Outcome>;
}

/** A command of the table; `run` knows the types of its own options. */
export function defineCommand<const S extends Specs>(command: Command<S>): Command {
  return command;
}

/** The command was called wrongly, and the exit code is 2. */
export class WrongCall extends Error {
  override readonly name = 'WrongCall';
}

/** The command failed. The message has the reason, and the exit code is 1. */
export class CommandFailed extends Error {
  override readonly name: string = 'CommandFailed';
}

/** The only argument of the command. */
export function readSingleId(words: readonly string[], what: string): string {
  const [id, ...rest] = words;
  if (id === undefined || rest.length > 0) throw new WrongCall(`name one ${what}`);
  return id;
}

export function assertNoWords(words: readonly string[]): void {
  if (words.length > 0) throw new WrongCall(`unexpected ${words.join(' ')}; this command takes only options`);
}
