import type { Command, OptionSpec } from '../command.ts';
import type { CommandTable } from './command-tree.ts';
import { FIRST_OPTIONS, firstWords, isPath, listOptions } from './command-tree.ts';

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
${Object.entries(commands).map(commandCase).join('\n')}
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

function commandCase([name, command]: readonly [string, Command]): string {
  const pattern = name.includes(' ') ? `'${name}'` : `'${name}'|'${name} '*`;
  const specs = listOptions(command).flatMap(([option, spec]) => toOptionSpecs(option, spec));
  // zsh counts the words of the command too, so the arguments come after them.
  const own = [...name.split(' ').map(() => "':word:'"), toWordsSpec(command)].join(' ');
  return `    ${pattern}) _arguments ${own} ${specs.join(' ')}; return ;;`;
}

function toWordsSpec({ words, choices }: Command): string {
  if (choices !== undefined) return quote(`*:${words}:(${choices.join(' ')})`);
  return isPath(words) ? quote('*:file:_files') : "'*:word:'";
}

function toOptionSpecs(option: string, { value, short, choices, means }: OptionSpec): string[] {
  const action = choices === undefined ? '' : `(${choices.join(' ')})`;
  const behind = value === undefined ? '' : `:${value}:${isPath(value) ? '_files' : action}`;
  const what = `[${means.replace(/[[\]:]/g, ' ')}]${behind}`;
  return [quote(`--${option}${what}`), ...(short === undefined ? [] : [quote(`-${short}${what}`)])];
}

function quote(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}
