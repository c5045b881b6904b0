import type { Clock } from '@reelgate/platform/clock';
import { timeOfId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import type { OperatorTaskList, OperatorTaskRow } from '../../../console/api/operator-tasks.ts';
import type { AccountBooks, TaskCharge } from '../../clients/money-client.ts';
import type { PlainKind, PlainState } from '../../clients/plain-task.ts';
import type { FoundRecords, RecordsQuestion, TaskRecord, TaskRecords } from '../../clients/task-records-client.ts';
import { enumValueOf } from '../../dialects/wire/query-values.ts';
import type { Exchange } from '../../http/exchange.ts';
import { ifReadable } from '../client/task-parts.ts';
import { timeOf } from '../client/tasks-route.ts';
import { taskRow } from '../views/task-row.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { idOf, textOf } from './read-query.ts';

const PAGE = 50;
const TASK_ID = /^task_[0-9a-v]{26}$/;
const ACCOUNT_MAX = 256;
const MODEL_MAX = 256;
const CHANNEL_MAX = 128;
const UPSTREAM_ID_MAX = 256;
const STATES: Readonly<Record<PlainState, PlainState>> = {
  queued: 'queued',
  in_progress: 'in_progress',
  completed: 'completed',
  failed: 'failed',
};
const KINDS: Readonly<Record<PlainKind, PlainKind>> = {
  generation: 'generation',
  regeneration: 'regeneration',
  context_ir: 'context_ir',
};

export interface TasksParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly records: TaskRecords;
  readonly books: Pick<AccountBooks, 'charges'>;
}

/** `GET /tasks`: a page of the tasks of every account. */
export function operatorTasksRoute(parts: TasksParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/tasks',
    name: 'listTasksOfOperators',
    role: 'viewer',
    answer: async (exchange): Promise<OperatorTaskList> => {
      const { clock, log, books } = parts;
      const { requestId, span } = exchange.state;
      const found = await search(parts, exchange);
      const ids = found.records.map(({ task }) => task.id);
      const charges = await ifReadable(log, 'charges', books.charges({ accountId: '', requestId, span }, ids));
      const now = clock.now();
      return {
        tasks: found.records.map((record) => rowOf(record, charges?.get(record.task.id), now)),
        ...placeOf(found),
      };
    },
  });
}

/** A task that is searched by its id is found whatever the other filters say. */
async function search({ records }: TasksParts, { querystring, state }: Exchange): Promise<FoundRecords> {
  const query = new URLSearchParams(querystring);
  const find = textOf(query, 'find', UPSTREAM_ID_MAX);
  if (find === undefined || !TASK_ID.test(find)) return records.list(questionIn(query, find), state);
  try {
    return { records: [await records.get(find, state)], continueAfter: undefined };
  } catch (error) {
    if (isProblem(error, 'task_not_found')) return { records: [], continueAfter: undefined };
    throw error;
  }
}

function questionIn(query: URLSearchParams, upstreamId: string | undefined): RecordsQuestion {
  if (upstreamId !== undefined) return { limit: PAGE, upstreamId };
  return {
    limit: PAGE,
    accountId: textOf(query, 'account', ACCOUNT_MAX),
    state: enumValueOf(query, 'state', STATES),
    kind: enumValueOf(query, 'kind', KINDS),
    model: textOf(query, 'model', MODEL_MAX),
    channel: textOf(query, 'channel', CHANNEL_MAX),
    from: timeOf(query, 'from'),
    to: timeOf(query, 'to'),
    after: idOf(query, 'after'),
  };
}

/** An operator does not see the video of a client, nor a picture of it. */
function rowOf(record: TaskRecord, charge: TaskCharge | undefined, now: number): OperatorTaskRow {
  const { thumbnail: _, ...row } = taskRow(record.task, charge, now);
  const { accountId, channel, admission } = record;
  return { ...row, accountId, channel, admission };
}

/** A page that is not full says how far back it has searched. */
function placeOf({ records, continueAfter }: FoundRecords): Pick<OperatorTaskList, 'after' | 'searchedTo'> {
  if (continueAfter === undefined) return {};
  const searchedTo = records.length < PAGE ? timeOfId(continueAfter) : undefined;
  return { after: continueAfter, ...(searchedTo === undefined ? {} : { searchedTo }) };
}
