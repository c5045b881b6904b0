import { readIdTime } from '@reelgate/platform/ids';
import { TASK_FILTERS } from '../../../console/client-filters.ts';
import type { TaskList } from '../../../console/api/tasks.ts';
import type { Principal } from '../../clients/billing-client.ts';
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
import { readTextFilter, readTextFilters } from '../read-filters.ts';
import type { TextsOf } from '../read-filters.ts';
import { taskRow } from '../views/task-view.ts';
import { toAccountCaller, ifReadable } from './task-parts.ts';
import type { TaskPageParts } from './task-parts.ts';
import type { TokenPageParts } from './tokens-routes.ts';

const PAGE = 50;
const TASK_ID = /^task_[0-9a-v]{26}$/;
const IDEMPOTENCY_KEY = /^[!-~]{1,255}$/;
const MILLISECONDS = /^\d{13}$/;
const REASON = 'invalid_request';
/** A page shows that there are more than this, and not how many. */
const COUNT_MAX = 1000;

const STATES: Readonly<Record<PlainState | 'running', readonly PlainState[]>> = {
  queued: ['queued'],
  in_progress: ['in_progress'],
  running: ['queued', 'in_progress'],
  completed: ['completed'],
  failed: ['failed'],
};

/** `GET /tasks`: a page of the tasks of the account. */
export function tasksRoute(parts: TokenPageParts & TaskPageParts): RouteEntry {
  return consoleRoute({
    method: 'GET',
    path: '/tasks',
    name: 'listTasksOfConsole',
    answer: async (exchange) => {
      const questions = readQuestions(new URLSearchParams(exchange.querystring));
      const [caller, principal] = [toAccountCaller(exchange), requirePrincipal(exchange)];
      const [list, tokens] = await Promise.all([
        listTasks(parts, caller, questions),
        listTokens(parts, caller, principal),
      ]);
      return { ...list, tokens, models: listVisibleModels(principal, parts.catalogue()) } satisfies TaskList;
    },
  });
}

type ListedTasks = Omit<TaskList, 'models' | 'tokens'>;

async function listTasks(
  { clock, log, taskPages, books }: TaskPageParts,
  caller: AccountCaller,
  questions: readonly TaskQuestion[],
): Promise<ListedTasks> {
  const found = await findFirst(taskPages, caller, questions);
  const ids = found.tasks.map(({ id }) => id);
  const charges = await ifReadable(log, 'charges', books.charges(caller, ids));
  return { tasks: found.tasks.map((task) => taskRow(task, charges?.get(task.id), clock.now())), ...toPagePlace(found) };
}

/** The names of the tokens that the visitor may see; its own one at least. */
async function listTokens(
  { log, tokens }: Pick<TokenPageParts & TaskPageParts, 'log' | 'tokens'>,
  caller: AccountCaller,
  { tokens: right, tokenId, tokenName }: Principal,
): Promise<TaskList['tokens']> {
  const own = [{ id: tokenId, name: tokenName }];
  if (right === 'none') return own;
  const found = await ifReadable(log, 'tokens', tokens.list(caller));
  return found?.tokens.map(({ id, name }) => ({ id, name })) ?? own;
}

/** The answer to the first question that finds a task, or to the last one. */
async function findFirst(
  taskPages: TaskPageParts['taskPages'],
  caller: AccountCaller,
  [first, ...further]: readonly TaskQuestion[],
): Promise<FoundTasks> {
  const found = await taskPages.list(caller, first ?? { limit: PAGE });
  return found.tasks.length > 0 || further.length === 0 ? found : findFirst(taskPages, caller, further);
}

/** A page that is not full says how far back it has searched. */
function toPagePlace({ tasks, continueAfter, counted }: FoundTasks): Omit<ListedTasks, 'tasks'> {
  const total = counted && { count: counted.count, isLeast: !counted.isWhole };
  if (continueAfter === undefined) return dropUndefined({ total });
  const searchedTo = tasks.length < PAGE ? readIdTime(continueAfter) : undefined;
  return { after: continueAfter, ...dropUndefined({ searchedTo, total }) };
}

/**
 * Reads the questions of a query. A task that is searched by id or key is found whatever the other filters say. A text
 * that can be a key is a word if it is none.
 */
function readQuestions(query: URLSearchParams): readonly TaskQuestion[] {
  const find = readTextFilter(query, 'find', TASK_FILTERS.find.most);
  if (find !== undefined && TASK_ID.test(find)) return [{ limit: PAGE, taskIds: [find] }];
  const texts: TextsOf<TaskQuestion, typeof TASK_FILTERS> = readTextFilters(query, TASK_FILTERS);
  const question: TaskQuestion = {
    limit: PAGE,
    words: find,
    states: readEnumValue(query, 'state', STATES),
    kind: readEnumName(query, 'kind', WIRE_KINDS),
    ...texts,
    from: readTimeFilter(query, 'from'),
    to: readTimeFilter(query, 'to'),
    after: readAfter(query),
  };
  // only the first page says how many there are
  const asked = question.after === undefined ? { ...question, countMax: COUNT_MAX } : question;
  const isKey = find !== undefined && question.after === undefined && IDEMPOTENCY_KEY.test(find);
  return isKey ? [{ limit: PAGE, idempotencyKey: find }, asked] : [asked];
}

/** Reads the time of a filter, or undefined if it is not set. */
function readTimeFilter(query: URLSearchParams, name: 'from' | 'to'): number | undefined {
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
