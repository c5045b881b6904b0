import { ConfigError } from '@reelgate/platform/config/config-file';
import { isPlain } from '@reelgate/platform/describe-error';
import { Problem } from '@reelgate/platform/problem';
import { PROGRAM_VERSION } from '../program/version.ts';
import { COMMANDS } from './command-table.ts';
import { CommandFailed, WrongCall } from './command.ts';
import type { Call, Outcome } from './command.ts';
import { lazyServices } from './connect-services.ts';
import type { Environment } from './environment.ts';
import { toContractJson } from './format/contract.ts';
import { describeAnswer } from './format/describe-answer.ts';
import { formatPage, formatUsage, overview } from './help.ts';
import { checkOptions, parseCall } from './parse-call.ts';
import type { ParsedCall } from './parse-call.ts';
import { newTerminal } from './terminal.ts';

/**
 * Exits with 0 if the command is done, with 1 if it was refused or found a fault, and with 2 if it was called wrongly.
 */
export async function runCommand(args: readonly string[], environment: Environment): Promise<number> {
  let name: string | undefined;
  try {
    const call = parseCall(args, COMMANDS);
    ({ name } = call);
    if (call.wantsVersion) return print(`reelgate ${PROGRAM_VERSION}`);
    if (call.wantsHelp) return print(name === undefined ? overview(COMMANDS) : formatPage(name, findCommand(name)));
    if (name === undefined) throw new WrongCall('');
    checkOptions(name, findCommand(name).options, call.options);
    return await run(name, call, environment);
  } catch (error) {
    return explain(error, name);
  }
}

async function run(name: string, { words, options, json }: ParsedCall, environment: Environment): Promise<number> {
  const services = lazyServices(environment);
  try {
    const {
      answer,
      text,
      ok = true,
      exitCode = ok ? 0 : 1,
    } = await findCommand(name).run({
      words,
      options: options as Call['options'],
      json,
      environment,
      terminal: newTerminal(process.stdout, process.stderr),
      services,
      print: (text) => {
        if (!json) print(text);
      },
    });
    print(formatOutcome({ answer, ...(text === undefined ? {} : { text }) }, json));
    return exitCode;
  } finally {
    services.close();
  }
}

function formatOutcome({ answer, text }: Outcome, json: boolean): string {
  if (json && answer !== undefined) return JSON.stringify(toContractJson(answer));
  return text ?? describeAnswer(answer);
}

function print(text: string): 0 {
  console.log(text);
  return 0;
}

function findCommand(name: string) {
  const command = COMMANDS[name];
  if (command === undefined) throw new Error(`no command ${name}`);
  return command;
}

function explain(error: unknown, name: string | undefined): number {
  if (error instanceof WrongCall) {
    const lines = error.message === '' ? [] : [error.message];
    if (name === undefined && lines.length === 0) lines.push(overview(COMMANDS));
    else lines.push(name === undefined ? 'reelgate --help lists the commands' : formatUsage(name, findCommand(name)));
    console.error(lines.join('\n'));
    return 2;
  }
  if (error instanceof Problem)
    console.error(`refused: ${error.field === undefined ? '' : `${error.field} `}${error.message} (${error.reason})`);
  else if (error instanceof ConfigError || error instanceof CommandFailed || isPlain(error))
    console.error(error.message);
  else console.error(error);
  return 1;
}
