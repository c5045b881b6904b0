import { parseArgs } from 'node:util';
import { nearestName } from '@reelgate/platform/rpc/nearest-name';
import { WrongCall } from './command.ts';
import type { Command, OptionSpec } from './command.ts';
import { COMMON_OPTIONS } from './help.ts';

/** Fewer letters are the beginning of too many words. */
const BEGUN_LETTERS_MIN = 3;

/** The typed call, before anything runs. */
export interface ParsedCall {
  /** Undefined if no command was named. */
  readonly name: string | undefined;
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, string | boolean>>;
  readonly json: boolean;
  readonly wantsHelp: boolean;
  readonly wantsVersion: boolean;
}

type Table = Readonly<Record<string, Command>>;

const HELP = 'help';
/** Replaces the dash of a negative amount, so that the parser does not take it for an option. */
const MINUS = '\u2212';

export function parseCall(args: readonly string[], commands: Table): ParsedCall {
  const { values, positionals } = parseOptions(args, commands);
  const { json = false, help = false, version = false, ...options } = values;
  const typed = positionals.map((word) => word.replace(MINUS, '-'));
  const asksHelp = typed[0] === HELP;
  const words = asksHelp ? typed.slice(1) : typed;
  const name = words.length === 0 ? undefined : findCommandName(words, commands);
  return {
    name,
    words: words.slice(name?.split(' ').length ?? 0),
    options: options as ParsedCall['options'],
    json: json === true,
    wantsHelp: asksHelp || help === true,
    wantsVersion: version === true,
  };
}

function parseOptions(args: readonly string[], commands: Table) {
  const known = Object.assign({}, ...Object.values(commands).map(({ options }) => options)) as Record<
    string,
    OptionSpec
  >;
  const specs = Object.entries<OptionSpec>({ ...known, ...COMMON_OPTIONS, version: { means: '' } }).map(
    ([name, { value, short }]) =>
      [
        name,
        { type: value === undefined ? 'boolean' : 'string', ...(short === undefined ? {} : { short }) } as const,
      ] as const,
  );
  try {
    return parseArgs({
      args: args.map((arg) => (/^-\d/.test(arg) ? MINUS + arg.slice(1) : arg)),
      options: Object.fromEntries(specs),
      allowPositionals: true,
    });
  } catch (error) {
    throw wrongOption(error, Object.keys(Object.fromEntries(specs)));
  }
}

function wrongOption(error: unknown, known: readonly string[]): WrongCall {
  const { code, message } = error as { readonly code?: string; readonly message: string };
  const [, typed] = /'--([^'\s]+)'/.exec(message) ?? [];
  if (code !== 'ERR_PARSE_ARGS_UNKNOWN_OPTION') return new WrongCall(message);
  const meant = typed === undefined ? undefined : findMeant(typed, known);
  const [, shown = message] = /^Unknown option '([^']+)'/.exec(message) ?? [];
  return new WrongCall(`unknown option ${shown}${meant === undefined ? '' : `; did you mean --${meant}?`}`);
}

/** The command's name, of two words or of one. */
function findCommandName(words: readonly string[], commands: Table): string {
  const name = [words.slice(0, 2).join(' '), words[0] ?? ''].find((one) => Object.hasOwn(commands, one));
  if (name !== undefined) return name;
  const names = Object.keys(commands);
  const [first = ''] = words;
  const siblings = names.filter((one) => one.startsWith(`${first} `));
  if (siblings.length > 0 && words.length === 1)
    throw new WrongCall(`${first} needs a second word; expected one of: ${siblings.join(', ')}`);
  const typed = words.slice(0, 2).join(' ');
  const firsts = siblings.length > 0 ? [] : names.map((one) => one.split(' ')[0] ?? '');
  const meant = findMeant(typed, names) ?? findMeant(first, firsts);
  const hint = siblings.length > 0 ? `; expected one of: ${siblings.join(', ')}` : '';
  throw new WrongCall(`unknown command ${typed}${meant === undefined ? hint : `; did you mean ${meant}?`}`);
}

/** Refuses an option that the command does not have, a value that the option does not take, and a missing option. */
export function checkOptions(name: string, specs: Command['options'], typed: ParsedCall['options']): void {
  for (const [option, value] of Object.entries(typed)) {
    const spec = specs[option];
    if (spec === undefined) throw new WrongCall(`${name} has no option --${option}`);
    if (spec.choices !== undefined && !spec.choices.includes(String(value)))
      throw new WrongCall(`--${option} takes one of: ${spec.choices.join(', ')}; not ${String(value)}`);
  }
  for (const [option, { needed, value = '', means }] of Object.entries(specs))
    if (needed === true && typed[option] === undefined)
      throw new WrongCall(`--${option} ${value} is missing: ${means}`);
}

/** Finds the known word that was probably meant: a word with the typed beginning, or else the nearest one. */
function findMeant(typed: string, known: readonly string[]): string | undefined {
  const begun = typed.length < BEGUN_LETTERS_MIN ? undefined : known.find((word) => word.startsWith(typed));
  return begun ?? nearestName(typed, known);
}
