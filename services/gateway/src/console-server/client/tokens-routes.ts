import type { Log } from '@reelgate/platform/log';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { Token as SiteToken } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import type { MadeToken, RevokedToken, TokenList, Token } from '../../../console/api/tokens.ts';
import { TOKEN_RIGHTS, WEBHOOK_RIGHTS, fromWireLimits } from '../../clients/billing-client.ts';
import type { Principal } from '../../clients/billing-client.ts';
import type { SiteTokens } from '../../clients/tokens-client.ts';
import { emptyToUndefined, toMs } from '../../clients/wire-values.ts';
import type { Catalogue } from '../../domain/model-defaults.ts';
import type { RateLimits } from '../../http/admission/limit-rate.ts';
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

const WAITS = deriveWords(TokenWait, 'channels');
const CLASSES = deriveWords(TokenClass, 'standard');

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
  const maker = { makerTokenId: tokenId, configuredLimits: { createsPerMinute, readsPerMinute, callsPerMinute } };
  const made = await inFormTerms(parts.tokens.create(toAccountCaller(exchange), { ...settings, ...maker }));
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
  const { token, madeRevoked, currency } = await tokens.revoke(toAccountCaller(exchange), {
    ...readRevocation(exchange),
    revokerTokenId: tokenId,
  });
  principals.drop(id);
  if (id === tokenId) sessions.forget(exchange);
  return { token: tokenView(token, { currency, ownTokenId: tokenId }), madeRevoked };
}

function assertRight(exchange: Exchange, use: keyof typeof REFUSALS): Principal {
  const principal = requirePrincipal(exchange);
  if (principal.tokens === 'write' || principal.tokens === use) return principal;
  throw refuse('tokens_not_allowed', { message: REFUSALS[use] });
}

/** The token of an id and all that it made, directly or through others, in the order of the list. */
function selectTree(tokens: readonly SiteToken[], topId: string): readonly SiteToken[] {
  const madeIds = new Map<string, string[]>();
  for (const { id, madeByTokenId: maker } of tokens) {
    if (maker !== '') push(madeIds, maker, id);
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
  const { id, name, models, limitNanos, limits, queue } = token;
  return {
    id,
    name,
    models,
    used: toMoney(token.usedNanos, currency),
    limits: limits === undefined ? {} : dropUndefined(fromWireLimits(limits)),
    webhooks: WEBHOOK_RIGHTS[token.webhooks],
    tokens: TOKEN_RIGHTS[token.tokens],
    queue: {
      wait: WAITS[queue?.wait ?? TokenWait.UNSPECIFIED],
      class: CLASSES[queue?.class ?? TokenClass.UNSPECIFIED],
    },
    createdAt: toMs(token.createdAt) ?? 0,
    isOwn: id === ownTokenId,
    canRevoke,
    ...dropUndefined({
      limit: limitNanos === undefined ? undefined : toMoney(limitNanos, currency),
      label: emptyToUndefined(token.label),
      hint: emptyToUndefined(token.hint),
      expiresAt: toMs(token.expiresAt),
      revokedAt: toMs(token.revokedAt),
      lastChargedAt: toMs(token.lastChargedAt),
      madeByTokenId: emptyToUndefined(token.madeByTokenId),
    }),
  };
}
