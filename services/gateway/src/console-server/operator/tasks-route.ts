import type { Clock } from '@reelgate/platform/clock';
import { readIdTime } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { isProblem } from '@reelgate/platform/problem';
import { OPERATOR_TASK_FILTERS } from '../../../console/operator-filters.ts';
import type { OperatorTaskList, OperatorTaskRow } from '../../../console/api/operator-tasks.ts';
import type { AccountBooks, TaskCharge } from '../../clients/money-client.ts';
import { WIRE_KINDS, WIRE_TASK_STATES } from '../../clients/plain-task.ts';
import type { FoundRecords, RecordsQuestion, TaskRecord, TaskRecords } from '../../clients/task-records-client.ts';
import { readEnumName } from '../../dialects/wire/query-values.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { ifReadable } from '../client/task-parts.ts';
import { readTimeFilter } from '../client/tasks-route.ts';
import { readTextFilter, readTextFilters } from '../read-filters.ts';
import type { TextsOf } from '../read-filters.ts';
import { taskRow } from '../views/task-row.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { readIdFilter } from './read-request.ts';

const PAGE = 50;
const TASK_ID = /^task_[0-9a-v]{26}$/;

export interface TasksParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly records: TaskRecords;
  readonly books: AccountBooks;
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
        tasks: found.records.map((record) => toOperatorTaskRow(record, charges?.get(record.task.id), now)),
        ...toPagePlace(found),
      };
    },
  });
}

/** A task that is searched by its id is found whatever the other filters say. */
async function search({ records }: TasksParts, { querystring, state }: Exchange): Promise<FoundRecords> {
  const query = new URLSearchParams(querystring);
  const find = readTextFilter(query, 'find', OPERATOR_TASK_FILTERS.find.most);
  if (find === undefined || !TASK_ID.test(find)) return records.list(toQuestion(query, find), state);
  try {
    return { records: [await records.get(find, state)], continueAfter: undefined };
  } catch (error) {
    if (isProblem(error, 'task_not_found')) return { records: [], continueAfter: undefined };
    throw error;
  }
}

function toQuestion(query: URLSearchParams, upstreamId: string | undefined): RecordsQuestion {
  if (upstreamId !== undefined) return { limit: PAGE, upstreamId };
  const texts: TextsOf<RecordsQuestion, typeof OPERATOR_TASK_FILTERS> = readTextFilters(query, OPERATOR_TASK_FILTERS);
  return {
    limit: PAGE,
    ...texts,
    state: readEnumName(query, 'state', WIRE_TASK_STATES),
    kind: readEnumName(query, 'kind', WIRE_KINDS),
    from: readTimeFilter(query, 'from'),
    to: readTimeFilter(query, 'to'),
    after: readIdFilter(query, 'after'),
  };
}

/** An operator does not see the video of a client, nor a picture of it. */
function toOperatorTaskRow(record: TaskRecord, charge: TaskCharge | undefined, now: number): OperatorTaskRow {
  const { thumbnail: _, ...row } = taskRow(record.task, charge, now);
  const { accountId, channel, admission } = record;
  return { ...row, accountId, channel, admission };
}

/** A page that is not full says how far back it has searched. */
function toPagePlace({ records, continueAfter }: FoundRecords): Omit<OperatorTaskList, 'tasks'> {
  if (continueAfter === undefined) return {};
  const searchedTo = records.length < PAGE ? readIdTime(continueAfter) : undefined;
  return { after: continueAfter, ...(searchedTo === undefined ? {} : { searchedTo }) };
}
