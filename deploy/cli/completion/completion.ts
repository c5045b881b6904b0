import { WrongCall, defineCommand } from '../command.ts';
import type { Command } from '../command.ts';
import { bashScript } from './bash-script.ts';
import type { CommandTable } from './command-tree.ts';
import { fishScript } from './fish-script.ts';
import { zshScript } from './zsh-script.ts';

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
