import { Problem } from '@reelgate/platform/problem';
import type { TokenLimitsRequest } from '../../../console/api/operator-accounts.ts';
import type { MadeToken, RevokedToken, Token } from '../../../console/api/tokens.ts';
import type { ChangeLimits } from '../../clients/token-limits-client.ts';
import type { SiteTokens } from '../../clients/tokens-client.ts';
import { bodyValidator } from '../../dialects/wire/body-validator.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/exchange.ts';
import { readJsonBody } from '../read-json-body.ts';
import { LIMIT_FIELDS, inFormTerms, readLimits, readNewToken, readRevocation } from '../token-forms.ts';
import { tokenView } from '../views/token.ts';
import { readAccountCaller } from './accounts-routes.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { REASON_SCHEMA, readReason } from './reason-body.ts';

const TOKENS = '/accounts/{account_id}/tokens';
const TOKEN = `${TOKENS}/{token_id}`;

const limitsForm = bodyValidator<TokenLimitsRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: { ...LIMIT_FIELDS, reason: REASON_SCHEMA },
});

interface Parts {
  readonly budget: BodyBudget;
  readonly tokens: SiteTokens;
  readonly changeLimits: ChangeLimits;
}

/** Makes, changes and revokes tokens of an account, in the name of the operator. */
export function accountTokensRoutes(parts: Parts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'POST',
      path: TOKENS,
      name: 'makeToken',
      role: 'treasurer',
      answer: (exchange) => makeToken(parts, exchange),
    }),
    operatorRoute({
      method: 'DELETE',
      path: TOKEN,
      name: 'revokeToken',
      role: 'treasurer',
      answer: (exchange) => revokeToken(parts, exchange),
    }),
    operatorRoute({
      method: 'POST',
      path: `${TOKEN}/limits`,
      name: 'changeTokenLimits',
      role: 'treasurer',
      answer: (exchange) => changeLimits(parts, exchange),
    }),
  ];
}

async function makeToken({ tokens, budget }: Parts, exchange: Exchange): Promise<MadeToken> {
  const settings = readNewToken(await readJsonBody(exchange, { budget }));
  const by = { operator: requireOperator(exchange).name };
  const { token, key, currency } = await inFormTerms(tokens.create(readAccountCaller(exchange), settings, by));
  return { token: tokenView(token, { currency }), key: key.reveal() };
}

async function revokeToken({ tokens }: Parts, exchange: Exchange): Promise<RevokedToken> {
  await requireToken(tokens, exchange);
  const by = { operator: requireOperator(exchange).name };
  const { token, madeRevoked, currency } = await tokens.revoke(
    readAccountCaller(exchange),
    readRevocation(exchange),
    by,
  );
  return { token: tokenView(token, { currency }), madeRevoked };
}

async function changeLimits({ tokens, budget, changeLimits: change }: Parts, exchange: Exchange): Promise<Token> {
  const form = limitsForm(await readJsonBody(exchange, { budget }));
  const wanted = { ...readLimits(form), reason: readReason(form), actor: requireOperator(exchange).name };
  const { id: tokenId, currency } = await requireToken(tokens, exchange);
  return tokenView(await inFormTerms(change({ tokenId, ...wanted }, exchange.state)), { currency });
}

/** The token that a path names. A token of another account is none of this one. */
async function requireToken(
  tokens: SiteTokens,
  exchange: Exchange,
): Promise<{ readonly id: string; readonly currency: string }> {
  const { token_id: id = '' } = exchange.params;
  const { tokens: all, currency } = await tokens.list(readAccountCaller(exchange));
  if (all.some((token) => token.id === id)) return { id, currency };
  throw new Problem({ kind: 'not_found', reason: 'token_not_found', message: 'the account has no such token' });
}
