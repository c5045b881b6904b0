import type { Command, OptionSpec } from '../command.ts';
import { COMMON_OPTIONS } from '../help.ts';

export type CommandTable = Readonly<Record<string, Command>>;

/** First words that are not commands. */
export const FIRST_OPTIONS = ['--help', '--version'] as const;

/** Every first word with its second words. */
export function firstWords(commands: CommandTable): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>([['help', []]]);
  for (const name of Object.keys(commands)) {
    const [first = '', second] = name.split(' ');
    const seconds = words.get(first) ?? [];
    words.set(first, second === undefined ? seconds : [...seconds, second]);
  }
  return words;
}

/** Every option of a command by its name. */
export function listOptions({ options }: Command): readonly (readonly [string, OptionSpec])[] {
  return [...Object.entries<OptionSpec>(options), ...Object.entries<OptionSpec>(COMMON_OPTIONS)];
}

/** Reports whether the value of an option, or an argument of a command, is a path. */
export const isPath = (value: string): boolean => value === 'FILE';
