import { create } from '@bufbuild/protobuf';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { Token } from '@reelgate/proto/billing/v1/account_service';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { CancelQueuedResponseSchema } from '@reelgate/proto/tasks/v1/queue_service';
import type { CancelQueuedResponse } from '@reelgate/proto/tasks/v1/queue_service';
import type { Services } from '../connect-services.ts';
import { ACTOR_OPTION, readActor } from '../environment.ts';
import { WrongCall, assertNoWords, defineCommand, readSingleId } from '../command.ts';
import { parseNanos } from '../format/quantities.ts';
import { WIDE_OPTION, listColumns, toListOutcome } from '../format/table.ts';
import { fromNow, relativeTime } from '../format/times.ts';

const WEBHOOK_RIGHTS: Readonly<Record<string, WebhookRight>> = deriveValues(WebhookRight);
const TOKEN_RIGHTS: Readonly<Record<string, TokenRight>> = deriveValues(TokenRight);
const WAITS: Readonly<Record<string, TokenWait>> = deriveValues(TokenWait);
const CLASSES: Readonly<Record<string, TokenClass>> = deriveValues(TokenClass);

/**
 * The maximum number of calls for one token. Each ends up to a thousand tasks, and by default 100,000 can wait in all.
 */
const CANCELS_MAX = 200;

/** The options of how its tasks wait. */
const QUEUE_OPTIONS = {
  wait: {
    value: 'WHAT',
    means: 'the wait of its creates: none, for a channel, or also for the limit in flight; default: channels',
    choices: Object.keys(WAITS),
  },
  class: {
    value: 'CLASS',
    means: 'the best class in which its tasks wait; default: standard',
    choices: Object.keys(CLASSES),
  },
} as const;

const LABEL_OPTION = {
  value: 'WORD',
  means: "the label of its orders if a request has no label, for the client's own accounting",
} as const;

const CONFIRM_OPTION = {
  value: 'AMOUNT',
  means: 'the price above which an order of an agent needs a person',
} as const;

/** The options of the limits that a token has of its own. */
const OWN_LIMIT_OPTIONS = {
  'creates-per-minute': { value: 'N', means: "the token's own rate limit of creates" },
  'reads-per-minute': { value: 'N', means: "the token's own rate limit of reads" },
  'calls-per-minute': { value: 'N', means: "the token's own rate limit of synchronous calls" },
  'in-flight': { value: 'N', means: 'the most unfinished tasks of the token' },
} as const;

export const tokenCreate = defineCommand({
  summary: 'create a token and show its key once',
  words: '',
  options: {
    account: { value: 'ID', means: 'the account that pays', needed: true },
    models: { value: 'A,B', means: 'the models that the token may use; "*" is every model', needed: true },
    name: { value: 'TEXT', means: 'a name for the token' },
    limit: { value: 'AMOUNT', means: 'the most that the token may spend' },
    expires: { value: 'DURATION', means: 'the lifetime from now, such as 30d' },
    ...OWN_LIMIT_OPTIONS,
    webhooks: {
      value: 'RIGHT',
      means: 'the right of the token to webhooks; default: write',
      choices: Object.keys(WEBHOOK_RIGHTS),
    },
    tokens: {
      value: 'RIGHT',
      means: 'the right of the token to the tokens of its account; default: none',
      choices: Object.keys(TOKEN_RIGHTS),
    },
    ...QUEUE_OPTIONS,
    label: LABEL_OPTION,
    'confirm-above': CONFIRM_OPTION,
    actor: ACTOR_OPTION,
  },
  example: 'token create --account demo --models "*" --limit 5.00 --expires 30d',
  run: async ({ services, words, options, environment }) => {
    assertNoWords(words);
    const { account = '', models = '', limit, expires, name = '' } = options;
    const { token, key } = await services.accounts.createToken({
      accountId: account,
      name,
      models: models
        .split(',')
        .map((model) => model.trim())
        .filter((model) => model !== ''),
      ...(limit === undefined ? {} : { limitNanos: parseNanos(limit) }),
      ...(expires === undefined ? {} : { expiresAt: fromNow(expires) }),
      limits: ownLimits(options),
      webhooks: WEBHOOK_RIGHTS[options.webhooks ?? ''] ?? WebhookRight.UNSPECIFIED,
      tokens: TOKEN_RIGHTS[options.tokens ?? ''] ?? TokenRight.UNSPECIFIED,
      ...readQueue(options),
      label: options.label ?? '',
      ...readConfirm(options),
      actor: readActor(options.actor, environment),
    });
    return { answer: { token_id: token?.id, key } };
  },
});

const COLUMNS = listColumns(TokenSchema, [
  'id',
  'accountId',
  { field: 'name', shrinks: true },
  { field: 'usedNanos', title: 'USED' },
  { field: 'limitNanos', title: 'LIMIT' },
  { title: 'STATE', of: describeState },
  { field: 'models', shrinks: true },
  { field: 'createdAt', isWide: true },
  { field: 'expiresAt', isWide: true },
  { field: 'limits.createsPerMinute', title: 'CREATES/MIN', isWide: true, isBlankAtZero: true },
  { field: 'limits.readsPerMinute', title: 'READS/MIN', isWide: true, isBlankAtZero: true },
  { field: 'limits.callsPerMinute', title: 'CALLS/MIN', isWide: true, isBlankAtZero: true },
  { field: 'limits.inFlight', isWide: true, isBlankAtZero: true },
  { field: 'webhooks', isWide: true },
  { field: 'tokens', isWide: true },
  { field: 'queue.wait', title: 'WAITS FOR', isWide: true },
  { field: 'queue.class', isWide: true },
  { title: 'KEY', of: ({ hint }) => (hint === '' ? '' : `…${hint}`), isWide: true },
  { field: 'label', isWide: true },
  { field: 'confirmAboveNanos', isWide: true },
  { field: 'lastChargedAt', isWide: true },
]);

export const tokenList = defineCommand({
  summary: 'list tokens, without their keys',
  words: '',
  options: { account: { value: 'ID', means: 'only the tokens of this account' }, wide: WIDE_OPTION },
  example: 'token list --account demo',
  run: async ({ services, words, options, terminal }) => {
    assertNoWords(words);
    const answer = await services.accounts.listTokens({ accountId: options.account ?? '' });
    return toListOutcome(answer, answer.tokens, COLUMNS, { terminal, options });
  },
});

export const tokenLimit = defineCommand({
  summary: 'replace the limits of a token; one that is left out is removed, the options from --wait on stay',
  words: 'TOKEN_ID',
  options: {
    limit: { value: 'AMOUNT', means: 'the most that the token may spend in total' },
    ...OWN_LIMIT_OPTIONS,
    none: { means: 'remove every limit' },
    ...QUEUE_OPTIONS,
    label: { ...LABEL_OPTION, means: `${LABEL_OPTION.means}; "" removes it` },
    'confirm-above': { ...CONFIRM_OPTION, means: `${CONFIRM_OPTION.means}; never removes it` },
    reason: { value: 'TEXT', means: 'the reason, for the record' },
    actor: ACTOR_OPTION,
  },
  example: 'token limit tok_06f2k3h8v0s7m1q9c4x5b2n6d0 --limit 20.00 --in-flight 5',
  run: async ({ services, words, options, environment }) => {
    const { limit, reason = '', none = false } = options;
    const limits = ownLimits(options);
    if ((options.wait === undefined) !== (options.class === undefined))
      throw new WrongCall('name --wait and --class together');
    const isNamed = limit !== undefined || Object.values(limits).some((own) => own > 0);
    if (isNamed === none) throw new WrongCall('name the limits of the token, or --none to remove them');
    const answer = await services.accounts.updateTokenLimits({
      id: readSingleId(words, 'token'),
      ...(limit === undefined ? {} : { limitNanos: parseNanos(limit) }),
      limits,
      ...readQueue(options),
      ...(options.label === undefined ? {} : { label: options.label }),
      ...(options['confirm-above'] === 'never' ? { confirmAboveNanos: -1n } : readConfirm(options)),
      actor: readActor(options.actor, environment),
      reason,
    });
    return { answer };
  },
});

export const tokenRevoke = defineCommand({
  summary:
    'revoke a token, with --with-made also the tokens that it created; --cancel-waiting ends their waiting tasks',
  words: 'TOKEN_ID',
  options: {
    'with-made': { means: 'revoke the tokens that it created too, directly or through others' },
    'cancel-waiting': {
      means: 'fail the tasks of the revoked tokens that wait for a channel, such as of a stolen key',
    },
    actor: ACTOR_OPTION,
  },
  example: 'token revoke tok_06f2k3h8v0s7m1q9c4x5b2n6d0 --cancel-waiting',
  run: async ({ services, words, options, environment }) => {
    const withMade = options['with-made'] === true;
    const actor = readActor(options.actor, environment);
    const id = readSingleId(words, 'token');
    const answer = await services.accounts.revokeToken({ id, actor, withMade });
    const { token, madeRevoked } = answer;
    if (token === undefined || options['cancel-waiting'] !== true) return { answer };
    const ids = withMade ? await listWithMade(services, token) : [id];
    return { answer: { token, madeRevoked, waiting: await cancelWaiting(services, { token, ids, actor }) } };
  },
});

/** Lists the token and all tokens that were created with it, directly or through others. */
async function listWithMade({ accounts }: Services, { id, accountId }: Token): Promise<readonly string[]> {
  const { tokens } = await accounts.listTokens({ accountId });
  const madeBy = Map.groupBy(tokens, ({ madeByTokenId }) => madeByTokenId);
  const ids = [id];
  for (const maker of ids) ids.push(...(madeBy.get(maker) ?? []).map((made) => made.id));
  return ids;
}

/** The tokens that a command has revoked, and its author. */
interface Revocation {
  readonly token: Token;
  readonly ids: readonly string[];
  readonly actor: string;
}

/** Fails the waiting tasks. A revoked token gets no further hold, so a second call fails the tasks that are left. */
async function cancelWaiting({ queue }: Services, { token, ids, actor }: Revocation): Promise<CancelQueuedResponse> {
  const request = { accountId: token.accountId, reason: 'the token is revoked', actor };
  const sum = create(CancelQueuedResponseSchema);
  for (const tokenId of ids)
    for (let calls = 1; calls <= CANCELS_MAX; calls += 1) {
      const ended = await queue.cancelQueued({ ...request, tokenId });
      sum.cancelled += ended.cancelled;
      if (!ended.hasMore) break;
      sum.hasMore ||= calls === CANCELS_MAX;
    }
  return sum;
}

function describeState({ revokedAt, expiresAt }: Token): string {
  if (revokedAt !== undefined) return `revoked ${relativeTime(revokedAt)}`;
  return expiresAt === undefined ? 'valid' : `ends ${relativeTime(expiresAt)}`;
}

type OwnLimitOptions = { readonly [N in keyof typeof OWN_LIMIT_OPTIONS]?: string };

interface OwnLimits {
  readonly createsPerMinute: number;
  readonly readsPerMinute: number;
  readonly callsPerMinute: number;
  readonly inFlight: number;
}

/** Zero means the configured limit. */
function ownLimits(options: OwnLimitOptions): OwnLimits {
  return {
    createsPerMinute: ownLimit('creates-per-minute', options),
    readsPerMinute: ownLimit('reads-per-minute', options),
    callsPerMinute: ownLimit('calls-per-minute', options),
    inFlight: ownLimit('in-flight', options),
  };
}

function ownLimit(name: keyof OwnLimitOptions, { [name]: text }: OwnLimitOptions): number {
  if (text === undefined) return 0;
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new WrongCall(`--${name} takes a whole number such as 600, not ${text}`);
  return Number(text);
}

/** Returns an empty object if no option of the queue is given. */
function readQueue({ wait = '', class: best = '' }: { readonly wait?: string; readonly class?: string }): {
  readonly queue?: { readonly wait: TokenWait; readonly class: TokenClass };
} {
  if (wait === '' && best === '') return {};
  return { queue: { wait: WAITS[wait] ?? TokenWait.UNSPECIFIED, class: CLASSES[best] ?? TokenClass.UNSPECIFIED } };
}

function readConfirm({ 'confirm-above': above }: { readonly 'confirm-above'?: string }): {
  readonly confirmAboveNanos?: bigint;
} {
  return above === undefined ? {} : { confirmAboveNanos: parseNanos(above) };
}
