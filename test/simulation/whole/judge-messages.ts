import type { LogCalls, LogMessage } from './log-messages.ts';
import { RARE_MESSAGES, UNREACHED } from './unreached-messages.ts';

/** With this many seeds, a message that did not appear says something. */
const SEEDS_OF_MESSAGES = 40;

/** What the logs of some seeds say of the messages of the product. */
export interface JudgedMessages {
  readonly all: number;
  readonly appeared: number;
  /** They did not appear, although no table says why. */
  readonly missing: readonly LogMessage[];
  /** They appeared, although a table says that no seed reaches them. */
  readonly reached: readonly string[];
  /** Names in the tables that are no messages of the product. */
  readonly unknown: readonly string[];
}

/** Compares the messages that appeared with those that the product can write, and with the tables. */
export function judgeMessages({ messages }: Pick<LogCalls, 'messages'>, said: ReadonlySet<string>): JudgedMessages {
  const all = new Set(messages.map(({ message }) => message));
  const isExcused = (message: string): boolean => Object.hasOwn(UNREACHED, message) || RARE_MESSAGES.has(message);
  return {
    all: all.size,
    appeared: [...all].filter((message) => said.has(message)).length,
    missing: messages.filter(({ message }) => !said.has(message) && !isExcused(message)),
    reached: Object.keys(UNREACHED).filter((message) => said.has(message)),
    unknown: [...Object.keys(UNREACHED), ...RARE_MESSAGES].filter((message) => !all.has(message)),
  };
}

/** Describes which messages appeared. Fewer seeds than the tables are for miss messages without a fault. */
export function describeMessages(
  { all, appeared, missing, reached, unknown }: JudgedMessages,
  seeds: number,
): readonly string[] {
  const list = (title: string, names: readonly string[]): readonly string[] =>
    names.length === 0 ? [] : [title, ...names.map((name) => `  ${name}`)];
  const never = missing.map(({ level, message, file, line }) => `${level} ${file}:${line} ${message}`);
  return [
    `${appeared} of ${all} log messages have appeared`,
    ...list('have not appeared, and no table says why:', never),
    ...list('have appeared, although a table says that no seed reaches them:', reached),
    ...list('are in a table, but no message of the product:', unknown),
    ...(seeds >= SEEDS_OF_MESSAGES && never.length + reached.length + unknown.length === 0
      ? ['each other log message has its reason']
      : []),
  ];
}
