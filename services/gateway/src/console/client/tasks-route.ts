import { readIdTime } from '@reelgate/platform/ids';
import { TASK_FILTERS } from '../../../console/client-filters.ts';
import type { TaskList } from '../../../console/api/tasks.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import { WIRE_KINDS } from '../../clients/plain-task.ts';
import type { PlainState } from '../../clients/plain-task.ts';
import type { FoundTasks, TaskQuestion } from '../../clients/task-pages-client.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { readEnumName, readEnumValue } from '../../dialects/wire/query-values.ts';
import { parseTimestamp } from '../../domain/timestamp.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import { PLAUSIBLE_ID } from '../../http/routes/task-id.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { listVisibleModels } from '../../operations/principals.ts';
import { consoleRoute } from '../console-route.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import { readTextFilters } from '../read-filters.ts';
import { taskRow } from '../views/task-row.ts';
import { toAccountCaller, ifReadable } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';

const PAGE = 25;
const TASK_ID = /^task_[0-9a-v]{26}$/;
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;
const MILLISECONDS = /^\d{13}$/;
const REASON = 'invalid_request';

const STATES: Readonly<Record<PlainState | 'running', readonly PlainState[]>> = {
  queued: ['queued'],
  in_progress: ['in_progress'],
  running: ['queued', 'in_progress'],
  completed: ['completed'],
  failed: ['failed'],
};

/** `GET /tasks`: a page of the tasks of the account. */
export function tasksRoute(parts: TaskPageParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/tasks',
    name: 'listTasksOfConsole',
    answer: async (exchange) => {
      const question = readQuestion(new URLSearchParams(exchange.querystring));
      const models = listVisibleModels(requirePrincipal(exchange), parts.catalogue());
      return { ...(await listTasks(parts, toAccountCaller(exchange), question)), models } satisfies TaskList;
    },
  });
}

async function listTasks(
  { clock, log, taskPages, books }: TaskPageParts,
  caller: AccountCaller,
  question: TaskQuestion,
): Promise<Omit<TaskList, 'models'>> {
  const found = await taskPages.list(caller, question);
  const ids = found.tasks.map(({ id }) => id);
  const charges = await ifReadable(log, 'charges', books.charges(caller, ids));
  return { tasks: found.tasks.map((task) => taskRow(task, charges?.get(task.id), clock.now())), ...toPagePlace(found) };
}

/** A page that is not full says how far back it has searched. */
function toPagePlace({ tasks, continueAfter }: FoundTasks): Omit<TaskList, 'tasks' | 'models'> {
  if (continueAfter === undefined) return {};
  const searchedTo = tasks.length < PAGE ? readIdTime(continueAfter) : undefined;
  return { after: continueAfter, ...dropUndefined({ searchedTo }) };
}

/** Reads the question of a query. A task that is searched by id or key is found whatever the other filters say. */
function readQuestion(query: URLSearchParams): TaskQuestion {
  const find = (query.get('find') ?? '').trim();
  if (TASK_ID.test(find)) return { limit: PAGE, taskIds: [find] };
  if (IDEMPOTENCY_KEY.test(find)) return { limit: PAGE, idempotencyKey: find };
  if (find !== '')
    throw invalid('find', 'must be a task id, or an idempotency key of 1 to 255 visible ASCII characters', REASON);
  return {
    limit: PAGE,
    states: readEnumValue(query, 'state', STATES),
    kind: readEnumName(query, 'kind', WIRE_KINDS),
    ...readTextFilters(query, TASK_FILTERS),
    from: readTimeFilter(query, 'from'),
    to: readTimeFilter(query, 'to'),
    after: readAfter(query),
  };
}

/** A time of a filter; undefined: it is not set. */
export function readTimeFilter(query: URLSearchParams, name: 'from' | 'to'): number | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const time = MILLISECONDS.test(text) ? Number(text) : parseTimestamp(text, name === 'from' ? 'beginning' : 'end');
  if (time !== undefined) return time;
  throw invalid(name, 'must be a date such as 2026-11-30, or milliseconds or seconds since 1970', REASON);
}

function readAfter(query: URLSearchParams): string | undefined {
  const after = query.get('after') || undefined;
  if (after === undefined || PLAUSIBLE_ID.test(after)) return after;
  throw invalid('after', 'must be the id of the last task of the page before', REASON);
}
