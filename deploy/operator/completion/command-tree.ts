import type { Command, OptionSpec } from '../command.ts';
import { COMMON_OPTIONS } from '../help.ts';

export type CommandTable = Readonly<Record<string, Command>>;

/** Words that are no command and can stand first. */
export const FIRST_OPTIONS = ['--help', '--version'] as const;

/** Every first word, with the second words that can follow it. */
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
export function optionsOf({ options }: Command): readonly (readonly [string, OptionSpec])[] {
  return [...Object.entries<OptionSpec>(options), ...Object.entries<OptionSpec>(COMMON_OPTIONS)];
}

/** Whether the value of an option, or a word of a command, is a path. */
export const isPath = (value: string): boolean => value === 'FILE';
