import type { RpcAnswer } from '../../../api/calls.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { toCall } from '../../../state/calls.ts';
import type { RpcCall } from '../../../state/calls.ts';
import type { searchWords } from '../search-words.ts';

const ACCOUNTS_SHOWN = 5;
/** The most tasks that are found by their words. */
const WORDS_SHOWN = 10;
/** The most tokens that share the end of a key. */
const TOKENS_SHOWN = 10;
const TOKEN_ID = /^token_[0-9a-v]{26}$/;
/** The end of a key, as the pages show it or without its dots. */
const HINT = /^(?:…|\.\.\.)?([!-~]{4})$/;
/** A text with a space, or of letters alone, is no id of a request. */
const OF_WORDS = /^[\p{L}\p{M}\s\p{P}]+$/u;
const WAYS = ['id', 'upstream_id', 'request_id', 'trace_id'] as const;

type FoundWay = keyof typeof searchWords.search.ways;

/** A thing that a search finds. */
export interface SearchHit {
  readonly kind: keyof typeof searchWords.search.kinds;
  readonly id: string;
  readonly by: FoundWay;
  /** The page that shows it. */
  readonly href: string;
  readonly accountId?: string;
  readonly model?: string;
  readonly createdAt?: number | undefined;
}

/** The answers to the calls of a search. An answer is missing if its call was not needed, or was refused. */
export interface SearchAnswers {
  readonly tasks?: RpcAnswer<'tasks.OperatorService/FindWork'>;
  readonly accounts?: RpcAnswer<'billing.AccountService/ListAccounts'>;
  readonly tokens?: RpcAnswer<'billing.AccountService/ListTokens'>;
  readonly channels?: RpcAnswer<'tasks.OperatorService/ListChannels'>;
  readonly words?: RpcAnswer<'tasks.OperatorService/ListTaskRecords'>;
}

type SearchCalls = { readonly [P in keyof SearchAnswers]: RpcCall<NonNullable<SearchAnswers[P]>> };

/** The calls that can find the value. */
export function toSearchCalls(value: string): SearchCalls {
  const hint = HINT.exec(value)?.[1];
  const token = TOKEN_ID.test(value) ? { id: value } : hint && { hint };
  return {
    tasks: toCall('tasks.OperatorService/FindWork', { value }),
    accounts: toCall('billing.AccountService/ListAccounts', {
      ...{ limit: ACCOUNTS_SHOWN, order: 'ACCOUNT_ORDER_ID', prefix: value },
    }),
    ...(token ? { tokens: toCall('billing.AccountService/ListTokens', token) } : {}),
    channels: toCall('tasks.OperatorService/ListChannels', {}),
    ...(OF_WORDS.test(value)
      ? {
          words: toCall('tasks.OperatorService/ListTaskRecords', {
            ...{ words: value, limit: WORDS_SHOWN, brief: true, inSteps: true },
          }),
        }
      : {}),
  };
}

/** Lists what was found. `relayChannels` are the ids of the channels that the gateway calls itself. */
export function listHits(value: string, answers: SearchAnswers, relayChannels: readonly string[]): SearchHit[] {
  const { tasks, accounts, tokens, channels, words } = answers;
  const channelIds = [...relayChannels, ...(channels?.channels ?? []).map(({ id }) => id)];
  return [
    ...(channelIds.includes(value) ? [toHit({ kind: 'channel', id: value, by: 'id' }, '/console/channels/')] : []),
    ...(tasks?.found ?? []).map(toWorkHit),
    ...(tokens?.tokens ?? []).slice(0, TOKENS_SHOWN).map(({ id, accountId }) => ({
      ...{ kind: 'token' as const, id, by: id === value ? ('id' as const) : ('hint' as const), accountId },
      // the page of the account, at the token
      href: `/console/accounts/${encodeURIComponent(accountId)}#${encodeURIComponent(id)}`,
    })),
    ...(accounts?.accounts ?? []).map(({ id, createdAt }) =>
      toHit(
        { kind: 'account', id, by: id === value ? 'id' : 'prefix', createdAt: readTime(createdAt) },
        '/console/accounts/',
      ),
    ),
    ...(words?.records ?? []).flatMap(({ task }) => (task === undefined ? [] : [toWordsHit(task)])),
  ];
}

/** Returns the page of the one hit whose id was searched. Returns undefined if several things have the id, or none. */
export function findOnlyPage(hits: readonly SearchHit[]): string | undefined {
  const exact = hits.filter(({ by }) => by !== 'prefix' && by !== 'words');
  return exact.length === 1 ? exact[0]?.href : undefined;
}

type FoundWork = RpcAnswer<'tasks.OperatorService/FindWork'>['found'][number];

function toWorkHit({ id, isJob, accountId, model, createdAt, foundBy }: FoundWork): SearchHit {
  const by = WAYS.find((way) => way === foundBy) ?? 'id';
  return toHit(
    { kind: isJob ? 'job' : 'task', id, by, accountId, model, createdAt: readTime(createdAt) },
    isJob ? '/console/jobs/' : '/console/tasks/',
  );
}

type FoundTask = NonNullable<RpcAnswer<'tasks.OperatorService/ListTaskRecords'>['records'][number]['task']>;

function toWordsHit({ id, accountId, order, createdAt }: FoundTask): SearchHit {
  return toHit(
    { kind: 'task', id, by: 'words', accountId, model: order?.model ?? '', createdAt: readTime(createdAt) },
    '/console/tasks/',
  );
}

function toHit(found: Omit<SearchHit, 'href'>, folder: string): SearchHit {
  return { ...found, href: `${folder}${encodeURIComponent(found.id)}` };
}
