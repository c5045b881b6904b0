import type { Log } from '@reelgate/platform/log';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import { isProblem } from '@reelgate/platform/problem';
import type { SearchHit, SearchAnswer } from '../../../console/api/operator-search.ts';
import { withDeadline } from '../../clients/caller.ts';
import type { OperatorClients } from '../../clients/gateway-clients.ts';
import { toTokenPage } from '../../clients/search-client.ts';
import type { Search } from '../../clients/search-client.ts';
import { toMs } from '../../clients/wire-values.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RelayChannels } from '../../relay/channels/relay-channels.ts';
import { ifReadable } from '../client/task-parts.ts';
import { readTextFilter } from '../read-filters.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';

const QUERY_MAX = 256;
const ACCOUNTS_SHOWN = 5;
const TOKEN_ID = /^token_[0-9a-v]{26}$/;
/** The end of a key, as the pages show it or without its dots. */
const HINT = /^(?:…|\.\.\.)?([!-~]{4})$/;
/** A text with a space, or of letters alone, is no id of a request. */
const OF_WORDS = /^[\p{L}\p{M}\s\p{P}]+$/u;

export interface SearchParts {
  readonly log: Log;
  readonly search: Search;
  readonly clients: Pick<OperatorClients, 'accounts' | 'tasks'>;
  readonly relay: RelayChannels;
}

/** `GET /search`: what has this id, or these words in its prompt. Each place is asked at once, each with a bound. */
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
  const { log, search } = parts;
  const [work, accounts, token, hinted, channels, words] = await Promise.all([
    ifReadable(log, 'tasks', search.work(value, state)),
    ifReadable(log, 'accounts', findAccounts(parts, value, state)),
    TOKEN_ID.test(value) ? ifReadable(log, 'tokens', findToken(search, value, state)) : [],
    ifReadable(log, 'tokens', findHinted(search, value, state)),
    ifReadable(log, 'channels', findChannel(parts, value, state)),
    OF_WORDS.test(value) ? ifReadable(log, 'words', search.words(value, state)) : [],
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

async function findToken(search: Search, id: string, state: Exchange['state']): Promise<SearchHit[]> {
  try {
    const accountId = await search.accountOfToken(id, state);
    return [{ kind: 'token', id, by: 'id', href: toTokenPage(accountId, id), accountId }];
  } catch (error) {
    // it is unknown, or has ended
    if (isProblem(error, 'invalid_api_key') || isProblem(error, 'token_disabled')) return [];
    throw error;
  }
}

async function findHinted(search: Search, value: string, state: Exchange['state']): Promise<SearchHit[]> {
  const [, hint] = HINT.exec(value) ?? [];
  return hint === undefined ? [] : search.tokensByHint(hint, state);
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
