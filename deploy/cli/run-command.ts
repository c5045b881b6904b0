import { ConfigError } from '@reelgate/platform/config/config-file';
import { isPlain } from '@reelgate/platform/describe-error';
import { Problem } from '@reelgate/platform/problem';
import { PROGRAM_VERSION } from '../program/version.ts';
import { COMMANDS } from './command-table.ts';
import { CommandFailed, WrongCall } from './command.ts';
import type { Call, Outcome } from './command.ts';
import { lazyServices } from './connect-services.ts';
import type { Environment } from './environment.ts';
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
  if (json && answer !== undefined) return JSON.stringify(answer);
  return text ?? asText(answer);
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

/** An answer as text for a person: a list as a table, an object line by line. */
function asText(answer: unknown): string {
  if (Array.isArray(answer)) return answer.length === 0 ? 'none' : table(answer as Readonly<Record<string, unknown>>[]);
  if (typeof answer !== 'object' || answer === null) return cell(answer);
  const entries = Object.entries(answer).filter(([, value]) => value !== undefined);
  const width = Math.max(...entries.map(([name]) => name.length));
  return entries
    .map(([name, value]) =>
      isList(value) ? `${name}\n${indent(asText(value))}` : `${name.padEnd(width)}  ${cell(value)}`,
    )
    .join('\n');
}

function table(rows: readonly Readonly<Record<string, unknown>>[]): string {
  if (typeof rows[0] !== 'object') return rows.map(cell).join('\n');
  const names = [...new Set(rows.flatMap(Object.keys))];
  const cells = [names, ...rows.map((row) => names.map((name) => cell(row[name])))];
  const widths = names.map((_name, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0)));
  return cells
    .map((row) =>
      row
        .map((text, column) => text.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd(),
    )
    .join('\n');
}

function cell(value: unknown): string {
  if (value === undefined) return '';
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function isList(value: unknown): boolean {
  return Array.isArray(value) && value.length > 0 && typeof value[0] === 'object';
}

function indent(text: string): string {
  return text
    .split('\n')
    .map((line) => `  ${line}`)
    .join('\n');
}
