import type { Clock } from '@reelgate/platform/clock';
import { Problem } from '@reelgate/platform/problem';
import type {
  AccountList,
  AccountRow,
  AccountView,
  CreditRequest,
  TokenLimitsRequest,
} from '../../../console/api/operator-accounts.ts';
import type { MadeToken, RevokedToken, Token } from '../../../console/api/tokens.ts';
import type { Account, Accounts } from '../../clients/accounts-client.ts';
import type { AccountCaller } from '../../clients/caller.ts';
import type { ChangeLimits, SiteTokens } from '../../clients/tokens-client.ts';
import type { ReadUsage } from '../../clients/usage-client.ts';
import { bodyValidator, invalid } from '../../dialects/wire/body-validator.ts';
import { readEnumValue } from '../../dialects/wire/query-values.ts';
import { parseNanos } from '../../domain/decimal.ts';
import { covers } from '../../domain/operator-role.ts';
import type { BodyBudget } from '../../http/bodies/body-budget.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import { readJsonBody } from '../console-route.ts';
import { LIMIT_FIELDS, inFormTerms, readLimits, readNewToken, readRevocation } from '../token-forms.ts';
import { toMoney } from '../views/money-view.ts';
import { tokenView } from '../views/token-view.ts';
import { readUsagePeriod, usageQuestion, usageView } from '../views/usage-view.ts';
import { operatorRoute } from './operator-route.ts';
import type { OperatorRouteEntry } from './operator-route.ts';
import { requireOperator } from './operator-session-routes.ts';
import { readTextFilter } from '../read-filters.ts';
import { REASON_SCHEMA, readReason } from './read-request.ts';

const PAGE = 50;
const ACCOUNT_MAX = 256;
const AMOUNT_CHARACTERS_MAX = 32;
const REQUEST_ID = /^[\w-]{8,64}$/;
const ORDERS = { id: 'id', balance: 'balance' } as const;

const creditForm = bodyValidator<CreditRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['amount', 'reason', 'requestId'],
  properties: {
    amount: { type: 'string', maxLength: AMOUNT_CHARACTERS_MAX },
    reason: REASON_SCHEMA,
    requestId: { type: 'string' },
  },
});

const TOKENS = '/accounts/{account_id}/tokens';
const TOKEN = `${TOKENS}/{token_id}`;

const limitsForm = bodyValidator<TokenLimitsRequest>({
  type: 'object',
  additionalProperties: false,
  required: ['reason'],
  properties: { ...LIMIT_FIELDS, reason: REASON_SCHEMA },
});

export interface AccountsParts {
  readonly clock: Clock;
  readonly budget: BodyBudget;
  readonly accounts: Accounts;
  readonly tokens: SiteTokens;
  readonly usage: ReadUsage;
}

/** The accounts, and credit for one of them. */
export function accountsRoutes(parts: AccountsParts): OperatorRouteEntry[] {
  return [
    operatorRoute({
      method: 'GET',
      path: '/accounts',
      name: 'listAccounts',
      role: 'viewer',
      answer: (exchange) => accountList(parts, exchange),
    }),
    operatorRoute({
      method: 'GET',
      path: '/accounts/{account_id}',
      name: 'getAccount',
      role: 'viewer',
      answer: (exchange) => accountView(parts, exchange),
    }),
    operatorRoute({
      method: 'POST',
      path: '/accounts/{account_id}/credit',
      name: 'creditAccount',
      role: 'treasurer',
      answer: (exchange) => credit(parts, exchange),
    }),
  ];
}

/** The account that a path names. */
function readAccountCaller({ params, state: { requestId, span } }: Exchange): AccountCaller {
  return { accountId: params['account_id'] ?? '', requestId, span };
}

async function accountList({ accounts: client }: AccountsParts, exchange: Exchange): Promise<AccountList> {
  const query = new URLSearchParams(exchange.querystring);
  const question = {
    limit: PAGE,
    order: readEnumValue(query, 'order', ORDERS) ?? 'id',
    prefix: readTextFilter(query, 'prefix', ACCOUNT_MAX),
    after: readTextFilter(query, 'after', ACCOUNT_MAX),
  };
  const { accounts, hasMore } = await client.list(question, exchange.state);
  const last = accounts.at(-1);
  const isPaged = hasMore && question.order === 'id' && last !== undefined;
  return { accounts: accounts.map(accountRow), ...(isPaged ? { after: last.id } : {}) };
}

async function accountView(parts: AccountsParts, exchange: Exchange): Promise<AccountView> {
  const caller = readAccountCaller(exchange);
  const period = readUsagePeriod(new URLSearchParams(exchange.querystring), parts.clock.now());
  const [account, { tokens }, credits, statement] = await Promise.all([
    parts.accounts.get(caller),
    parts.tokens.list(caller),
    parts.accounts.credits(caller),
    parts.usage(usageQuestion(caller.accountId, period), caller.requestId),
  ]);
  const { currency } = account;
  return {
    account: accountRow(account),
    tokens: tokens.map((token) => tokenView(token, { currency })),
    credits: credits.map(({ amountNanos, ...rest }) => ({ ...rest, amount: toMoney(amountNanos, currency) })),
    usage: usageView(period, { statement }),
    canChange: covers(requireOperator(exchange).role, 'treasurer'),
  };
}

async function credit({ accounts, budget }: AccountsParts, exchange: Exchange): Promise<AccountRow> {
  const form = creditForm(await readJsonBody(exchange, { budget }));
  if (!REQUEST_ID.test(form.requestId))
    throw invalid('requestId', 'must have 8 to 64 letters, digits, hyphens and underscores');
  const { name: actor } = requireOperator(exchange);
  const wanted = {
    amountNanos: readAmount(form.amount),
    reason: readReason(form),
    actor,
    requestId: form.requestId,
  };
  return accountRow(await inFormTerms(accounts.credit(readAccountCaller(exchange), wanted)));
}

function readAmount(text: string): bigint {
  const nanos = parseNanos(text);
  if (nanos !== undefined && nanos !== 0n) return nanos;
  throw invalid('amount', 'must be a decimal such as 12.50, not 0, with at most 9 digits after the point');
}

function accountRow({ id, currency, balanceNanos, heldNanos, createdAt }: Account): AccountRow {
  return {
    id,
    balance: toMoney(balanceNanos, currency),
    held: toMoney(heldNanos, currency),
    free: toMoney(balanceNanos - heldNanos, currency),
    createdAt,
  };
}

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
