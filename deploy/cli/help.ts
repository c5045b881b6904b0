import type { Command, OptionSpec } from './command.ts';

const PROGRAM = 'reelgate';
const EXAMPLE = 'reelgate video create "a red boat at dawn" -o boat.mp4';
/** Options of every command. */
export const COMMON_OPTIONS = {
  json: { means: 'print one JSON document' },
  help: { means: 'print this page', short: 'h' },
} as const satisfies Readonly<Record<string, OptionSpec>>;

type Table = Readonly<Record<string, Command>>;

/** All commands, one line each. */
export function overview(commands: Table): string {
  const calls = Object.entries(commands).map(
    ([name, { words, summary }]) => [joinWords(name, words), summary] as const,
  );
  return [
    `${PROGRAM}: the command line of Reelgate, an asynchronous video generation gateway`,
    '',
    'Commands:',
    ...alignColumns(calls),
    '',
    'Every command takes --json and --help. Exit code 0: done. 1: refused, or not in order. 2: called wrongly.',
    'REELGATE_CONFIG names the configuration: a file, files with colons between, or a folder of *.yaml files.',
    'Default: deploy/local/reelgate.yaml.',
    '',
    'Example:',
    `  ${EXAMPLE}`,
    `  ${PROGRAM} COMMAND --help`,
  ].join('\n');
}

/** Formats the help of a command with its options and an example. */
export function formatPage(name: string, command: Command): string {
  const { words, summary, options, choices, example } = command;
  const all: [string, OptionSpec][] = [...Object.entries<OptionSpec>(options), ...Object.entries(COMMON_OPTIONS)];
  return [
    formatUsage(name, command),
    '',
    `  ${summary}`,
    ...(choices === undefined ? [] : [`  ${words}: ${choices.join(', ')}`]),
    '',
    'Options:',
    ...alignColumns(all.map(([option, spec]) => [spellOption(option, spec), describeOption(spec)])),
    '',
    'Example:',
    `  ${PROGRAM} ${example}`,
  ].join('\n');
}

/** The usage line, such as `usage: reelgate account credit ID AMOUNT --reason TEXT [options]`. */
export function formatUsage(name: string, { words, options }: Command): string {
  const all = Object.entries<OptionSpec>(options);
  const needed = all.flatMap(([option, spec]) => (spec.needed === true ? [`--${option} ${spec.value ?? ''}`] : []));
  const rest = needed.length < all.length ? ['[options]'] : [];
  return ['usage:', PROGRAM, joinWords(name, words), ...needed, ...rest].join(' ');
}

function describeOption({ means, needed, choices }: OptionSpec): string {
  return [
    means,
    ...(choices === undefined ? [] : [`one of ${choices.join(', ')}`]),
    ...(needed ? ['required'] : []),
  ].join('; ');
}

function spellOption(name: string, { value, short }: OptionSpec): string {
  return [short === undefined ? '   ' : `-${short},`, `--${name}`, ...(value === undefined ? [] : [value])].join(' ');
}

function joinWords(name: string, words: string): string {
  return words === '' ? name : `${name} ${words}`;
}

function alignColumns(lines: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...lines.map(([left]) => left.length));
  return lines.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`);
}
