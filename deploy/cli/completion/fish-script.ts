import type { OptionSpec } from '../command.ts';
import type { CommandTable } from './command-tree.ts';
import { firstWords, isPath, listOptions } from './command-tree.ts';

export function fishScript(commands: CommandTable): string {
  const lines = [...firstWords(commands)].map(([first, seconds]) =>
    [
      `complete -c reelgate -f -n __fish_use_subcommand -a ${first}`,
      ...seconds.map(
        (second) =>
          `complete -c reelgate -f -n '__reelgate_typed ${first}' -a ${second} ` +
          `-d ${quote(commands[`${first} ${second}`]?.summary ?? '')}`,
      ),
    ].join('\n'),
  );
  return `# Completion of reelgate for fish. As an alias: alias reelgate='npm run -s reelgate --'
function __reelgate_typed --description 'whether exactly these words were typed'
  set -l words (commandline -opc | string match -v -- '-*')
  test "$words[2..]" = "$argv"
end
function __reelgate_command --description 'whether these words begin what was typed'
  set -l words (commandline -opc | string match -v -- '-*')
  string match -q -- "$argv*" "$words[2..]"
end
complete -c reelgate -f
complete -c reelgate -n __fish_use_subcommand -l help -s h -d 'list the commands'
complete -c reelgate -n __fish_use_subcommand -l version -d 'print the version'
${lines.join('\n')}
${Object.keys(commands)
  .flatMap((name) => commandLines(name, commands))
  .join('\n')}`;
}

function commandLines(name: string, commands: CommandTable): string[] {
  const command = commands[name];
  if (command === undefined) return [];
  const when = `-n '__reelgate_command ${name}'`;
  return [
    ...(command.choices === undefined ? [] : [`complete -c reelgate ${when} -f -a '${command.choices.join(' ')}'`]),
    ...(isPath(command.words) ? [`complete -c reelgate ${when} -F`] : []),
    ...listOptions(command).map(([option, spec]) => `complete -c reelgate ${when} ${optionWords(option, spec)}`),
  ];
}

function optionWords(option: string, { value, short, choices, means }: OptionSpec): string {
  const files = value !== undefined && isPath(value) ? ' -rF' : ' -x';
  return [
    `-l ${option}`,
    ...(short === undefined ? [] : [` -s ${short}`]),
    value === undefined ? '' : files,
    ...(choices === undefined ? [] : [` -a '${choices.join(' ')}'`]),
    ` -d ${quote(means)}`,
  ].join('');
}

function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
