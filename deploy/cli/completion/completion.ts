import { WrongCall, defineCommand } from '../command.ts';
import type { Command, OptionSpec } from '../command.ts';
import { COMMON_OPTIONS } from '../help.ts';

const SCRIPTS: Readonly<Record<string, (commands: CommandTable) => string>> = {
  bash: bashScript,
  zsh: zshScript,
  fish: fishScript,
};

/** Creates the command for shell completion, which is derived from the table of commands. */
export function newCompletionCommand(commands: () => CommandTable): Command {
  return defineCommand({
    summary: 'print the completion script of a shell',
    words: 'SHELL',
    choices: Object.keys(SCRIPTS),
    options: {},
    example: 'completion bash >> ~/.bashrc',
    run: async ({ words }) => {
      const [shell, ...rest] = words;
      const script = SCRIPTS[shell ?? ''];
      if (script === undefined || rest.length > 0)
        throw new WrongCall(`name one shell: ${Object.keys(SCRIPTS).join(', ')}`);
      return { text: script(commands()) };
    },
  });
}

type CommandTable = Readonly<Record<string, Command>>;

/** First words that are not commands. */
const FIRST_OPTIONS = ['--help', '--version'] as const;

/** Every first word with its second words. */
function firstWords(commands: CommandTable): ReadonlyMap<string, readonly string[]> {
  const words = new Map<string, string[]>([['help', []]]);
  for (const name of Object.keys(commands)) {
    const [first = '', second] = name.split(' ');
    const seconds = words.get(first) ?? [];
    words.set(first, second === undefined ? seconds : [...seconds, second]);
  }
  return words;
}

/** Every option of a command by its name. */
function listOptions({ options }: Command): readonly (readonly [string, OptionSpec])[] {
  return [...Object.entries<OptionSpec>(options), ...Object.entries<OptionSpec>(COMMON_OPTIONS)];
}

/** Reports whether the value of an option, or an argument of a command, is a path. */
const isPath = (value: string): boolean => value === 'FILE';

type NamedOption = readonly [string, OptionSpec];

/** For bash 4 and newer. It does not need the package bash-completion. */
export function bashScript(commands: CommandTable): string {
  const words = firstWords(commands);
  return `# Completion of reelgate for bash. As an alias: alias reelgate='npm run -s reelgate --'
_reelgate() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD - 1]}" at typed=()
  for ((at = 1; at < COMP_CWORD; at++)); do
    [[ \${COMP_WORDS[at]} == -* ]] || typed+=("\${COMP_WORDS[at]}")
  done
  local command="\${typed[*]:0:2}" options='' values='' paths=''
  case "\${typed[*]}" in
${[...words].map(([first, seconds]) => `    ${first}) values='${seconds.join(' ')}' ;;`).join('\n')}
    '') values='${[...words.keys()].join(' ')}' options='${FIRST_OPTIONS.join(' ')}' ;;
  esac
  case "$command" in
${Object.keys(commands)
  .map((name) => bashCase(name, commands))
  .join('\n')}
  esac
  if [[ $current == -* ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$options" -- "$current")
  elif [[ -n $paths ]]; then
    compopt -o filenames 2> /dev/null
    mapfile -t COMPREPLY < <(compgen -f -- "$current")
  else
    mapfile -t COMPREPLY < <(compgen -W "$values" -- "$current")
  fi
}
complete -F _reelgate reelgate`;
}

/** Completes a command: its options, or the values of its argument or of the option before the cursor. */
function bashCase(name: string, commands: CommandTable): string {
  const command = commands[name];
  if (command === undefined) return '';
  const options = listOptions(command);
  const pattern = name.includes(' ') ? `'${name}'` : `'${name}' | '${name} '*`;
  return [
    `    ${pattern})`,
    `      options='${options.flatMap(spellings).join(' ')}'`,
    `      values='${(command.choices ?? []).join(' ')}'${isPath(command.words) ? " paths='yes'" : ''}`,
    ...previousCase(options.filter(([, { value }]) => value !== undefined)),
    '      ;;',
  ].join('\n');
}

/** After an option that takes a value, only the values of that option fit. */
function previousCase(valued: readonly NamedOption[]): string[] {
  const fitting = ({ value = '', choices = [] }: OptionSpec): string =>
    `values='${choices.join(' ')}' paths='${isPath(value) ? 'yes' : ''}'`;
  const byValues = new Map<string, string[]>();
  for (const option of valued) {
    const values = fitting(option[1]);
    byValues.set(values, [...(byValues.get(values) ?? []), ...spellings(option)]);
  }
  if (byValues.size === 0) return [];
  const rows = [...byValues].map(([values, names]) => `        ${names.join(' | ')}) ${values} ;;`);
  return ['      case "$previous" in', ...rows, '      esac'];
}

function spellings([name, { short }]: NamedOption): string[] {
  return [`--${name}`, ...(short === undefined ? [] : [`-${short}`])];
}

export function zshScript(commands: CommandTable): string {
  const words = firstWords(commands);
  return `#compdef reelgate
# Completion of reelgate for zsh. As an alias: alias reelgate='npm run -s reelgate --'
_reelgate() {
  local -a typed=("\${(@)words[2,CURRENT-1]:#-*}")
  if ((\${#typed} == 0)); then
    compadd -- ${[...words.keys(), ...FIRST_OPTIONS].join(' ')}
    return
  fi
  case "\${typed[1,2]}" in
${Object.entries(commands).map(zshCase).join('\n')}
  esac
  ((\${#typed} == 1)) || return
  case "\${typed[1]}" in
${[...words]
  .filter(([, seconds]) => seconds.length > 0)
  .map(([first, seconds]) => `    ${first}) compadd -- ${seconds.join(' ')} ;;`)
  .join('\n')}
  esac
}
compdef _reelgate reelgate`;
}

function zshCase([name, command]: readonly [string, Command]): string {
  const pattern = name.includes(' ') ? `'${name}'` : `'${name}'|'${name} '*`;
  const specs = listOptions(command).flatMap(([option, spec]) => toOptionSpecs(option, spec));
  // zsh counts the words of the command too, so the arguments come after them.
  const own = [...name.split(' ').map(() => "':word:'"), toWordsSpec(command)].join(' ');
  return `    ${pattern}) _arguments ${own} ${specs.join(' ')}; return ;;`;
}

function toWordsSpec({ words, choices }: Command): string {
  if (choices !== undefined) return quoteForZsh(`*:${words}:(${choices.join(' ')})`);
  return isPath(words) ? quoteForZsh('*:file:_files') : "'*:word:'";
}

function toOptionSpecs(option: string, { value, short, choices, means }: OptionSpec): string[] {
  const action = choices === undefined ? '' : `(${choices.join(' ')})`;
  const behind = value === undefined ? '' : `:${value}:${isPath(value) ? '_files' : action}`;
  const what = `[${means.replace(/[[\]:]/g, ' ')}]${behind}`;
  return [quoteForZsh(`--${option}${what}`), ...(short === undefined ? [] : [quoteForZsh(`-${short}${what}`)])];
}

function quoteForZsh(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

export function fishScript(commands: CommandTable): string {
  const lines = [...firstWords(commands)].map(([first, seconds]) =>
    [
      `complete -c reelgate -f -n __fish_use_subcommand -a ${first}`,
      ...seconds.map(
        (second) =>
          `complete -c reelgate -f -n '__reelgate_typed ${first}' -a ${second} ` +
          `-d ${quoteForFish(commands[`${first} ${second}`]?.summary ?? '')}`,
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
  .flatMap((name) => fishLines(name, commands))
  .join('\n')}`;
}

function fishLines(name: string, commands: CommandTable): string[] {
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
    ` -d ${quoteForFish(means)}`,
  ].join('');
}

function quoteForFish(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
