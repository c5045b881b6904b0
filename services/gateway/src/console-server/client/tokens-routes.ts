import type { Log } from '@reelgate/platform/log';
import type { MadeToken, RevokedToken, TokenList, Token } from '../../../console/api/tokens.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { SiteToken, SiteTokens } from '../../clients/tokens-client.ts';
import type { Catalogue } from '../../domain/catalogue.ts';
import type { RateLimits } from '../../domain/rate-limits.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { RouteEntry } from '../../http/routes/route.ts';
import { listVisibleModels } from '../../operations/principals.ts';
import type { Principals } from '../../operations/principals.ts';
import { consoleRoute, readJsonBody } from '../console-route.ts';
import type { ClientSessions } from '../session/client-sessions.ts';
import { inFormTerms, readNewToken, readRevocation } from '../token-forms.ts';
import { toAccountCaller } from './task-parts.ts';
import { refuse } from '../../refusals.ts';
import { toMoney } from '../views/money-view.ts';
import { dropUndefined } from '../../dialects/wire/task-fields.ts';

const REFUSALS = {
  read: 'this token may not see the tokens of its account; use a token with the right tokens: read or write',
  write: 'this token may not make or revoke tokens; use a token with the right tokens: write',
} as const;

/** The parts that the pages about tokens need. */
export interface TokenPageParts {
  readonly log: Log;
  readonly principals: Principals;
  readonly budget: BodyBudget;
  readonly limits: RateLimits;
  readonly catalogue: () => Catalogue;
  readonly tokens: SiteTokens;
}

/** The tokens of the account, for a token that may see them. */
export function tokensRoutes(parts: TokenPageParts, sessions: ClientSessions): RouteEntry[] {
  return [
    consoleRoute({
      method: 'GET',
      path: '/tokens',
      name: 'listTokens',
      answer: (exchange) => tokenList(parts, exchange),
    }),
    consoleRoute({
      method: 'POST',
      path: '/tokens',
      name: 'makeToken',
      answer: (exchange) => makeToken(parts, exchange),
    }),
    consoleRoute({
      method: 'DELETE',
      path: '/tokens/{token_id}',
      name: 'revokeToken',
      answer: (exchange) => revokeToken(parts, sessions, exchange),
    }),
  ];
}

async function tokenList({ tokens: client, catalogue }: TokenPageParts, exchange: Exchange): Promise<TokenList> {
  const principal = assertRight(exchange, 'read');
  const { tokens, currency } = await client.list(toAccountCaller(exchange));
  const canChange = principal.tokens === 'write';
  const ownTree = new Set(selectTree(tokens, principal.tokenId));
  return {
    tokens: tokens.map((token) =>
      tokenView(token, { currency, ownTokenId: principal.tokenId, canRevoke: canChange && ownTree.has(token) }),
    ),
    canChange,
    models: listVisibleModels(principal, catalogue()),
    currency,
  };
}

async function makeToken(parts: TokenPageParts, exchange: Exchange): Promise<MadeToken> {
  const { tokenId } = assertRight(exchange, 'write');
  const settings = readNewToken(await readJsonBody(exchange, parts));
  const { createsPerMinute, readsPerMinute, callsPerMinute } = parts.limits;
  const by = { tokenId, configuredLimits: { createsPerMinute, readsPerMinute, callsPerMinute } };
  const made = await inFormTerms(parts.tokens.create(toAccountCaller(exchange), settings, by));
  return { token: tokenView(made.token, { currency: made.currency, ownTokenId: tokenId }), key: made.key.reveal() };
}

/** Any token may revoke itself, which ends the session. */
async function revokeToken(
  { tokens, principals }: TokenPageParts,
  sessions: ClientSessions,
  exchange: Exchange,
): Promise<RevokedToken> {
  const { token_id: id = '' } = exchange.params;
  const { tokenId } = requirePrincipal(exchange);
  if (id !== tokenId) assertRight(exchange, 'write');
  const revoked = await tokens.revoke(toAccountCaller(exchange), readRevocation(exchange), { tokenId });
  const { token, madeRevoked, currency } = revoked;
  principals.drop(id);
  if (id === tokenId) sessions.forget(exchange);
  return { token: tokenView(token, { currency, ownTokenId: tokenId }), madeRevoked };
}

function assertRight(exchange: Exchange, use: keyof typeof REFUSALS): Principal {
  const principal = requirePrincipal(exchange);
  if (principal.tokens === 'write' || principal.tokens === use) return principal;
  throw refuse('tokens_not_allowed', { message: REFUSALS[use] });
}

type TokenMaker = Pick<SiteToken, 'id' | 'madeByTokenId'>;

/** The token of an id and all that it made, directly or through others, in the order of the list. */
function selectTree<T extends TokenMaker>(tokens: readonly T[], topId: string): readonly T[] {
  const madeIds = new Map<string, string[]>();
  for (const { id, madeByTokenId: maker } of tokens) {
    if (maker !== undefined) push(madeIds, maker, id);
  }
  const ids = new Set([topId]);
  // a set gives what is added while it is read
  for (const id of ids) for (const madeId of madeIds.get(id) ?? []) ids.add(madeId);
  return tokens.filter(({ id }) => ids.has(id));
}

function push(lists: Map<string, string[]>, key: string, value: string): void {
  const list = lists.get(key);
  if (list === undefined) lists.set(key, [value]);
  else list.push(value);
}

interface TokenContext {
  readonly currency: string;
  /** The token that the visitor is signed in with. */
  readonly ownTokenId: string;
  /** Default true. */
  readonly canRevoke?: boolean;
}

/** A token without its key. */
function tokenView(token: SiteToken, { currency, ownTokenId, canRevoke = true }: TokenContext): Token {
  const { id, name, models, limitNanos, usedNanos, limits, webhooks, tokens, queue, createdAt } = token;
  const { label, hint, expiresAt, revokedAt, lastChargedAt, madeByTokenId } = token;
  const limit = limitNanos === undefined ? undefined : toMoney(limitNanos, currency);
  return {
    ...{ id, name, models, webhooks, tokens, queue, createdAt, canRevoke },
    ...dropUndefined({ limit, label, hint, expiresAt, revokedAt, lastChargedAt, madeByTokenId }),
    used: toMoney(usedNanos, currency),
    limits: dropUndefined(limits),
    isOwn: id === ownTokenId,
  };
}
