import { parseArgs } from 'node:util';
import { ConfigError } from '@reelgate/platform/config/config-file';
import { Problem } from '@reelgate/platform/problem';
import { accountCommands } from './account-commands.ts';
import { attentionCommands } from './attention-commands.ts';
import { channelCommands } from './channel-commands.ts';
import { WrongCall } from './command.ts';
import type { Command, Words } from './command.ts';
import { connectServices } from './connect-services.ts';
import { jobCommands } from './job-commands.ts';
import { ledgerCommands } from './ledger-commands.ts';
import { mediaCommands } from './media-commands.ts';
import { asText } from './text-table.ts';
import { taskCommands } from './task-commands.ts';
import { tokenCommands } from './token-commands.ts';
import { usageCommands } from './usage-commands.ts';

/** Every command by its two words. A new one is an entry in the file of its subject. */
const COMMANDS: Readonly<Record<string, Command>> = {
  ...accountCommands,
  ...tokenCommands,
  ...taskCommands,
  ...jobCommands,
  ...attentionCommands,
  ...ledgerCommands,
  ...usageCommands,
  ...channelCommands,
  ...mediaCommands,
};

const OPTIONS = {
  json: { type: 'boolean' },
  help: { type: 'boolean' },
  quick: { type: 'boolean' },
  account: { type: 'string' },
  models: { type: 'string' },
  limit: { type: 'string' },
  expires: { type: 'string' },
  name: { type: 'string' },
  reason: { type: 'string' },
  as: { type: 'string' },
  state: { type: 'string' },
  after: { type: 'string' },
  actor: { type: 'string' },
  from: { type: 'string' },
  to: { type: 'string' },
  by: { type: 'string' },
  'creates-per-minute': { type: 'string' },
  'reads-per-minute': { type: 'string' },
  'calls-per-minute': { type: 'string' },
  'in-flight': { type: 'string' },
} as const;

/** Exit code 0: done. 1: refused, or not in order. 2: called wrongly. */
export async function runCommand(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  try {
    const { words, options, json } = read(args, environment);
    const command = COMMANDS[words.slice(0, 2).join(' ')];
    if (command === undefined) throw new WrongCall('no such command');
    const services = connectServices(environment);
    try {
      const { answer, ok = true } = await command.run(services, { ids: words.slice(2), options });
      console.log(json ? JSON.stringify(answer) : asText(answer));
      return ok ? 0 : 1;
    } finally {
      services.close();
    }
  } catch (error) {
    return explain(error);
  }
}

function read(
  args: readonly string[],
  environment: Readonly<Record<string, string | undefined>>,
): { words: string[]; options: Words['options']; json: boolean } {
  try {
    // An amount that takes money back begins with a dash and is no option.
    const {
      values: { json = false, help = false, ...options },
      positionals,
    } = parseArgs({
      args: args.map((arg) => (/^-\d/.test(arg) ? `\u2212${arg.slice(1)}` : arg)),
      options: OPTIONS,
      allowPositionals: true,
    });
    if (help || positionals.length < 2)
      throw new WrongCall(positionals.length === 0 || help ? '' : 'a command has two words');
    const actor = options.actor ?? environment['USER'] ?? 'operator';
    return { words: positionals.map((word) => word.replace(/^\u2212/, '-')), options: { ...options, actor }, json };
  } catch (error) {
    if (error instanceof WrongCall) throw error;
    throw new WrongCall(error instanceof Error ? error.message : String(error));
  }
}

function explain(error: unknown): number {
  if (error instanceof WrongCall) {
    console.error(
      `${error.message === '' ? '' : `${error.message}\n`}usage:\n${Object.entries(COMMANDS)
        .map(([name, { usage }]) => `  reelgate ${name}${usage === '' ? '' : ` ${usage}`}`)
        .join('\n')}\n  Every command takes --json.`,
    );
    return 2;
  }
  if (error instanceof Problem)
    console.error(`refused: ${error.field === undefined ? '' : `${error.field} `}${error.message} (${error.reason})`);
  else if (error instanceof ConfigError) console.error(error.message);
  else console.error(error);
  return 1;
}
