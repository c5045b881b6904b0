import type { OptionSpec } from '../command.ts';
import type { CommandTable } from './command-tree.ts';
import { FIRST_OPTIONS, firstWords, isPath, listOptions } from './command-tree.ts';

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
  .map((name) => commandCase(name, commands))
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
function commandCase(name: string, commands: CommandTable): string {
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
