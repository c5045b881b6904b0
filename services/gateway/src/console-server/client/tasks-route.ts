import { readIdTime } from '@reelgate/platform/ids';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { ListTasksResponse } from '@reelgate/proto/tasks/v1/task_service';
import { TASK_FILTERS } from '../../../console/client-filters.ts';
import type { TaskList } from '../../../console/api/tasks.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import { WIRE_KINDS, WIRE_TASK_STATES } from '../../clients/task-words.ts';
import type { TaskQuestion } from '../../clients/tasks-client.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import { readEnumValue } from '../../dialects/wire/query-values.ts';
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

const STATES = {
  ...WIRE_TASK_STATES,
  running: [WIRE_TASK_STATES.queued, WIRE_TASK_STATES.in_progress],
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
  const [found, question] = await findFirst(taskPages, caller, questions);
  const ids = found.tasks.map(({ id }) => id);
  const charges = await ifReadable(log, 'charges', books.charges(caller, ids));
  return {
    tasks: found.tasks.map((task) => taskRow(task, charges?.get(task.id), clock.now())),
    ...toPagePlace(found, question),
  };
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

/** The answer to the first question that finds a task, or to the last one, and this question. */
async function findFirst(
  taskPages: TaskPageParts['taskPages'],
  caller: AccountCaller,
  [first = { limit: PAGE }, ...further]: readonly TaskQuestion[],
): Promise<[ListTasksResponse, TaskQuestion]> {
  const found = await taskPages.list(caller, first);
  return found.tasks.length > 0 || further.length === 0 ? [found, first] : findFirst(taskPages, caller, further);
}

/** A page that is not full says how far back it has searched. */
function toPagePlace(
  { tasks, continueAfter, counted, countedAll }: ListTasksResponse,
  { countMax }: TaskQuestion,
): Omit<ListedTasks, 'tasks'> {
  const total = countMax === undefined ? undefined : { count: counted, isLeast: !countedAll };
  if (continueAfter === '') return dropUndefined({ total });
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
  const filters: TextsOf<TaskQuestion & { token: string }, typeof TASK_FILTERS> = readTextFilters(query, TASK_FILTERS);
  const { token: tokenId, ...texts } = filters;
  const question: TaskQuestion = {
    limit: PAGE,
    states: [readEnumValue(query, 'state', STATES) ?? []].flat(),
    ...dropUndefined({
      words: find,
      kind: readEnumValue(query, 'kind', WIRE_KINDS),
      ...texts,
      tokenId,
      createdFrom: readTimeFilter(query, 'from'),
      createdBefore: readTimeFilter(query, 'to'),
      after: readAfter(query),
    }),
  };
  // only the first page says how many there are
  const asked = question.after === undefined ? { ...question, countMax: COUNT_MAX } : question;
  const isKey = find !== undefined && question.after === undefined && IDEMPOTENCY_KEY.test(find);
  return isKey ? [{ limit: PAGE, idempotencyKey: find }, asked] : [asked];
}

/** Reads the time of a filter, or undefined if it is not set. */
function readTimeFilter(query: URLSearchParams, name: 'from' | 'to'): Timestamp | undefined {
  const text = query.get(name) ?? '';
  if (text === '') return undefined;
  const time = MILLISECONDS.test(text) ? Number(text) : parseTimestamp(text, name === 'from' ? 'beginning' : 'end');
  if (time !== undefined) return timestampFromMs(time);
  throw invalid(name, 'must be a date such as 2026-11-30, or milliseconds or seconds since 1970', REASON);
}

function readAfter(query: URLSearchParams): string | undefined {
  const after = query.get('after') || undefined;
  if (after === undefined || PLAUSIBLE_ID.test(after)) return after;
  throw invalid('after', 'must be the id of the last task of the page before', REASON);
}
