import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { WrongCall } from '../command.ts';
import { WIDE_OPTION } from './table.ts';
import { STATES } from './task-record.ts';

const LIMIT_DEFAULT = 50;

/** The options of the lists of tasks and jobs. */
export const LIST_OPTIONS = {
  account: { value: 'ID', means: 'only this account' },
  state: { value: 'STATE', means: 'only this state', choices: Object.keys(STATES) },
  limit: { value: 'N', means: `at most N, 1 to 1000; default: ${LIMIT_DEFAULT}` },
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
  const { account = '', state = '', limit = String(LIMIT_DEFAULT), after = '' } = options;
  if (!/^[1-9]\d{0,3}$/.test(limit)) throw new WrongCall(`--limit takes a whole number from 1 to 1000, not ${limit}`);
  return { accountId: account, after, limit: Number(limit), state: STATES[state] ?? TaskState.UNSPECIFIED };
}
