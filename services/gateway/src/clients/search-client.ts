import type { FoundWork } from '@reelgate/proto/tasks/v1/operator_service';
import { readIdTime } from '@reelgate/platform/ids';
import type { SearchHit, FoundWay } from '../domain/search-hit.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { TASK_STATE_WORDS } from './plain-task.ts';
import { toMs } from './wire-values.ts';

const DEADLINE_MS = 5000;
/** The most tasks that are found by their words. */
const WORDS_SHOWN = 10;
/** The most tokens that share the end of a key. */
const TOKENS_SHOWN = 10;
const WAYS: readonly FoundWay[] = ['id', 'upstream_id', 'request_id', 'trace_id'];

/** Searches of operators. */
export interface Search {
  /** Finds tasks and jobs by an id: their own, that of a request, of a trace or of an upstream. */
  work(value: string, caller: Caller): Promise<SearchHit[]>;
  /** Finds the newest tasks whose prompts have each of these words. */
  words(value: string, caller: Caller): Promise<SearchHit[]>;
  /** Finds tokens by the last characters of their keys, also those that have ended. */
  tokensByHint(hint: string, caller: Caller): Promise<SearchHit[]>;
  /** Returns the account of a token. Refused if it is unknown or has ended. */
  accountOfToken(tokenId: string, caller: Caller): Promise<string>;
}

export function searchClient({ tasks, billing, accounts }: OperatorClients): Search {
  return {
    work: async (value, caller) =>
      (await tasks.findWork({ value }, withDeadline(caller, DEADLINE_MS))).found.map(fromWireFound),
    words: async (value, caller) => {
      const { records } = await tasks.listTaskRecords(
        { words: value, limit: WORDS_SHOWN, brief: true, inSteps: true },
        withDeadline(caller, DEADLINE_MS),
      );
      return records.flatMap(({ task }) => {
        if (task === undefined) return [];
        const createdAt = readIdTime(task.id);
        return [
          {
            kind: 'task' as const,
            id: task.id,
            by: 'words' as const,
            href: `/console/tasks/${task.id}`,
            accountId: task.accountId,
            model: task.order?.model ?? '',
            ...(createdAt === undefined ? {} : { createdAt }),
          },
        ];
      });
    },
    tokensByHint: async (hint, caller) => {
      const { tokens } = await accounts.listTokens({ hint }, withDeadline(caller, DEADLINE_MS));
      return tokens.slice(0, TOKENS_SHOWN).map(({ id, accountId, name }) => ({
        kind: 'token' as const,
        id,
        by: 'hint' as const,
        href: toTokenPage(accountId, id),
        accountId,
        ...(name === '' ? {} : { text: name }),
      }));
    },
    accountOfToken: async (tokenId, caller) =>
      (await billing.getPrincipal({ tokenId }, withDeadline(caller))).principal?.accountId ?? '',
  };
}

/** The page of the account, at the token. */
export function toTokenPage(accountId: string, tokenId: string): string {
  return `/console/accounts/${encodeURIComponent(accountId)}#${encodeURIComponent(tokenId)}`;
}

function fromWireFound({ id, isJob, accountId, model, state, createdAt, foundBy }: FoundWork): SearchHit {
  const at = toMs(createdAt);
  const named = TASK_STATE_WORDS[state];
  return {
    kind: isJob ? 'job' : 'task',
    id,
    by: WAYS.find((way) => way === foundBy) ?? 'id',
    href: `/console/${isJob ? 'jobs' : 'tasks'}/${id}`,
    accountId,
    model,
    ...(named === undefined ? {} : { state: named }),
    ...(at === undefined ? {} : { createdAt: at }),
  };
}
