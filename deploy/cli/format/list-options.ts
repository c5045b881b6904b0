import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { WrongCall } from '../command.ts';
import type { OptionSpec } from '../command.ts';
import { WIDE_OPTION } from './table.ts';

const STATES: Readonly<Record<string, TaskState>> = deriveValues(TaskState);
const LIMIT = { most: 1000, usual: 50 };

/** The options of the lists of tasks and jobs. */
export const LIST_OPTIONS = {
  account: { value: 'ID', means: 'only this account' },
  state: { value: 'STATE', means: 'only this state', choices: Object.keys(STATES) },
  limit: limitOption(LIMIT),
  after: { value: 'ID', means: 'continue after this id, for the next page' },
  wide: WIDE_OPTION,
} as const;

export interface ListQuery {
  readonly accountId: string;
  readonly after: string;
  readonly limit: number;
  readonly state: TaskState;
}

export function listQuery(options: {
  readonly account?: string;
  readonly state?: string;
  readonly limit?: string;
  readonly after?: string;
}): ListQuery {
  const { account = '', state = '', limit = String(LIMIT.usual), after = '' } = options;
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new WrongCall(`--limit takes a whole number from 1 to 1000, not ${limit}`);
  return { accountId: account, after, limit: Number(limit), state: STATES[state] ?? TaskState.UNSPECIFIED };
}

/** The length of a page of a list: the most that can be asked for, and the usual. */
interface PageLimit {
  readonly most: number;
  readonly usual: number;
}

export function limitOption({ most, usual }: PageLimit): OptionSpec & { readonly value: string } {
  return { value: 'N', means: `at most N, 1 to ${most}; default: ${usual}` };
}

export function readLimit(text: string | undefined, { most, usual }: PageLimit): number {
  if (text === undefined) return usual;
  if (!/^[1-9]\d{0,2}$/.test(text) || Number(text) > most)
    throw new WrongCall(`--limit takes a whole number from 1 to ${most}, not ${text}`);
  return Number(text);
}
