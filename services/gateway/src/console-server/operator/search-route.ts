import type { Log } from '@reelgate/platform/log';
import { readIdTime } from '@reelgate/platform/ids';
import { isProblem } from '@reelgate/platform/problem';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import type { FoundWork } from '@reelgate/proto/tasks/v1/operator_service';
import type { FoundWay, SearchHit, SearchAnswer } from '../../../console/api/operator-search.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { TASK_STATE_WORDS } from '../../clients/task-words.ts';
import { toMs } from '../../clients/wire-values.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { ifReadable } from '../client/task-parts.ts';
import { readTextFilter } from '../read-filters.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const QUERY_MAX = 256;
const DEADLINE_MS = 5000;
const ACCOUNTS_SHOWN = 5;
/** The most tasks that are found by their words. */
const WORDS_SHOWN = 10;
/** The most tokens that share the end of a key. */
const TOKENS_SHOWN = 10;
const WAYS: readonly FoundWay[] = ['id', 'upstream_id', 'request_id', 'trace_id'];
const TOKEN_ID = /^token_[0-9a-v]{26}$/;
/** The end of a key, as the pages show it or without its dots. */
const HINT = /^(?:…|\.\.\.)?([!-~]{4})$/;
/** A text with a space, or of letters alone, is no id of a request. */
const OF_WORDS = /^[\p{L}\p{M}\s\p{P}]+$/u;

export interface SearchParts {
  readonly log: Log;
  readonly clients: Pick<OperatorClients, 'accounts' | 'billing' | 'tasks'>;
  readonly relay: RelayChannels;
}

/**
 * `GET /search`: what has this id, or these words in its prompt. Each place is asked at once, each with a bound. The relay
 * channels of this gateway are one of the places, and a page that asked each would send six calls for each search.
 */
export function searchRoute(parts: SearchParts): OperatorRouteEntry {
  return operatorRoute({
    method: 'GET',
    path: '/search',
    name: 'searchOperators',
    role: 'viewer',
    answer: (exchange) => searchAll(parts, exchange),
  });
}

async function searchAll(parts: SearchParts, { querystring, state }: Exchange): Promise<SearchAnswer> {
  const value = readTextFilter(new URLSearchParams(querystring), 'q', QUERY_MAX)?.trim() ?? '';
  if (value === '') return { found: [], unavailable: [] };
  const { log } = parts;
  const [work, accounts, token, hinted, channels, words] = await Promise.all([
    ifReadable(log, 'tasks', findWork(parts, value, state)),
    ifReadable(log, 'accounts', findAccounts(parts, value, state)),
    TOKEN_ID.test(value) ? ifReadable(log, 'tokens', findToken(parts, value, state)) : [],
    ifReadable(log, 'tokens', findHinted(parts, value, state)),
    ifReadable(log, 'channels', findChannel(parts, value, state)),
    OF_WORDS.test(value) ? ifReadable(log, 'words', findWords(parts, value, state)) : [],
  ]);
  const found = [channels, work, token, hinted, accounts, words].flatMap((part) => part ?? []);
  const exact = found.filter(({ by }) => by !== 'prefix' && by !== 'words');
  const [only] = exact;
  return {
    found,
    ...(only !== undefined && exact.length === 1 ? { href: only.href } : {}),
    unavailable: listUnread({ tasks: work, accounts, tokens: token && hinted, channels, words }),
  };
}

type Place = SearchAnswer['unavailable'][number];

function listUnread(parts: Readonly<Record<Place, readonly SearchHit[] | undefined>>): readonly Place[] {
  const places = Object.keys(parts) as Place[];
  return places.filter((place) => parts[place] === undefined);
}

/** Finds tasks and jobs by an id: their own, or the id of a request, of a trace or of an upstream. */
async function findWork({ clients }: SearchParts, value: string, state: Exchange['state']): Promise<SearchHit[]> {
  const { found } = await clients.tasks.findWork({ value }, withDeadline(state, DEADLINE_MS));
  return found.map(toWorkHit);
}

function toWorkHit({ id, isJob, accountId, model, state, createdAt, foundBy }: FoundWork): SearchHit {
  return {
    kind: isJob ? 'job' : 'task',
    id,
    by: WAYS.find((way) => way === foundBy) ?? 'id',
    href: `/console/${isJob ? 'jobs' : 'tasks'}/${id}`,
    accountId,
    model,
    ...dropUndefined({ state: TASK_STATE_WORDS[state], createdAt: toMs(createdAt) }),
  };
}

/** Finds the newest tasks with each of these words in their prompts. */
async function findWords({ clients }: SearchParts, value: string, state: Exchange['state']): Promise<SearchHit[]> {
  const { records } = await clients.tasks.listTaskRecords(
    { words: value, limit: WORDS_SHOWN, brief: true, inSteps: true },
    withDeadline(state, DEADLINE_MS),
  );
  return records.flatMap(({ task }) => {
    if (task === undefined) return [];
    const { id, accountId, order } = task;
    const href = `/console/tasks/${id}`;
    const createdAt = readIdTime(id);
    return [
      {
        ...{ kind: 'task', id, by: 'words', href },
        accountId,
        model: order?.model ?? '',
        ...dropUndefined({ createdAt }),
      },
    ];
  });
}

async function findAccounts({ clients }: SearchParts, value: string, state: Exchange['state']): Promise<SearchHit[]> {
  const question = { limit: ACCOUNTS_SHOWN, order: AccountOrder.ID, prefix: value };
  const { accounts } = await clients.accounts.listAccounts(question, withDeadline(state));
  return accounts.map(({ id, createdAt }) => ({
    kind: 'account',
    id,
    by: id === value ? 'id' : 'prefix',
    href: `/console/accounts/${encodeURIComponent(id)}`,
    createdAt: toMs(createdAt) ?? 0,
  }));
}

async function findToken({ clients }: SearchParts, id: string, state: Exchange['state']): Promise<SearchHit[]> {
  try {
    const { principal } = await clients.billing.getPrincipal({ tokenId: id }, withDeadline(state));
    const accountId = principal?.accountId ?? '';
    return [{ kind: 'token', id, by: 'id', href: toTokenPage(accountId, id), accountId }];
  } catch (error) {
    // it is unknown, or has ended
    if (isProblem(error, 'invalid_api_key') || isProblem(error, 'token_disabled')) return [];
    throw error;
  }
}

/** Finds tokens by the last characters of their keys, also those that have ended. */
async function findHinted({ clients }: SearchParts, value: string, state: Exchange['state']): Promise<SearchHit[]> {
  const [, hint] = HINT.exec(value) ?? [];
  if (hint === undefined) return [];
  const { tokens } = await clients.accounts.listTokens({ hint }, withDeadline(state, DEADLINE_MS));
  return tokens.slice(0, TOKENS_SHOWN).map(({ id, accountId, name }) => ({
    ...{ kind: 'token', id, by: 'hint', href: toTokenPage(accountId, id), accountId },
    ...(name === '' ? {} : { text: name }),
  }));
}

/** The page of the account, at the token. */
function toTokenPage(accountId: string, tokenId: string): string {
  return `/console/accounts/${encodeURIComponent(accountId)}#${encodeURIComponent(tokenId)}`;
}

async function findChannel(
  { clients, relay }: SearchParts,
  value: string,
  state: Exchange['state'],
): Promise<SearchHit[]> {
  const isOfRelay = relay.all().some(({ settings }) => settings.id === value);
  if (!isOfRelay) {
    const { channels } = await clients.tasks.listChannels({}, withDeadline(state));
    if (!channels.some(({ id }) => id === value)) return [];
  }
  return [{ kind: 'channel', id: value, by: 'id', href: `/console/channels/${encodeURIComponent(value)}` }];
}
