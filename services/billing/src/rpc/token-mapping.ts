import { deriveValues, deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import type { CreateTokenRequest, TokenSchema } from '@reelgate/proto/billing/v1/account_service';
import type { PrincipalSchema } from '@reelgate/proto/billing/v1/billing_service';
import type { TokenLimits as WireLimits, TokenLimitsSchema } from '@reelgate/proto/billing/v1/token_limits';
import { TokenClass as WireClass, TokenWait as WireWait } from '@reelgate/proto/billing/v1/token_queue';
import type { TokenQueue as WireQueue, TokenQueueSchema } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight as WireTokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight as WireWebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { DEFAULT_QUEUE, NO_LIMITS, boundConfirmation, boundQueue } from '../domain/token.ts';
import type { Principal, Token, TokenLimits, TokenQueue } from '../domain/token.ts';
import type { TokenRequest } from '../operations/tokens/manage-tokens.ts';
import type { ListedToken } from '../operations/tokens/read-tokens.ts';

const WEBHOOK_RIGHTS = deriveWords(WireWebhookRight, 'write');
const WIRE_WEBHOOK_RIGHTS = deriveValues(WireWebhookRight);
const TOKEN_RIGHTS = deriveWords(WireTokenRight, 'none');
const WIRE_TOKEN_RIGHTS = deriveValues(WireTokenRight);
const WAITS = deriveWords(WireWait, DEFAULT_QUEUE.wait);
const WIRE_WAITS = deriveValues(WireWait);
const CLASSES = deriveWords(WireClass, DEFAULT_QUEUE.class);
const WIRE_CLASSES = deriveValues(WireClass);

/** Reads the token that a request describes. `caller` is its creator, unless the request names another one. */
export function fromWireTokenRequest(request: CreateTokenRequest, caller: string): TokenRequest {
  const { accountId, name, models, limitNanos, expiresAt, limits, webhooks, tokens, makerTokenId, actor } = request;
  return {
    accountId,
    name,
    models,
    limit: limitNanos,
    expiresAt: expiresAt && timestampMs(expiresAt),
    limits: fromWireLimits(limits),
    webhooks: WEBHOOK_RIGHTS[webhooks],
    tokens: TOKEN_RIGHTS[tokens],
    queue: fromWireQueue(request.queue) ?? DEFAULT_QUEUE,
    label: request.label,
    confirmAbove: request.confirmAboveNanos,
    makerId: makerTokenId || undefined,
    configuredLimits: fromWireLimits(request.configuredLimits),
    actor: actor || caller,
  };
}

/** Zero means the configured number. */
export function fromWireLimits(limits: WireLimits | undefined): TokenLimits {
  if (limits === undefined) return NO_LIMITS;
  const { createsPerMinute, readsPerMinute, callsPerMinute, inFlight } = limits;
  return {
    createsPerMinute: createsPerMinute || undefined,
    readsPerMinute: readsPerMinute || undefined,
    callsPerMinute: callsPerMinute || undefined,
    inFlight: inFlight || undefined,
  };
}

function toWireLimits({
  createsPerMinute = 0,
  readsPerMinute = 0,
  callsPerMinute = 0,
  inFlight = 0,
}: TokenLimits): WholeMessage<typeof TokenLimitsSchema> {
  return { createsPerMinute, readsPerMinute, callsPerMinute, inFlight };
}

export function fromWireQueue(queue: WireQueue | undefined): TokenQueue | undefined {
  return queue && { wait: WAITS[queue.wait], class: CLASSES[queue.class] };
}

function toWireQueue(queue: TokenQueue): WholeMessage<typeof TokenQueueSchema> {
  return { wait: WIRE_WAITS[queue.wait], class: WIRE_CLASSES[queue.class] };
}

export function toWirePrincipal(principal: Principal): WholeMessage<typeof PrincipalSchema> {
  const { token, makers } = principal;
  const { id, accountId, name, models, expiresAt, limits, webhooks, tokens } = token;
  const confirmAboveNanos = boundConfirmation(principal);
  return {
    accountId,
    tokenId: id,
    name,
    models: [...models],
    limits: toWireLimits(limits),
    webhooks: WIRE_WEBHOOK_RIGHTS[webhooks],
    tokens: WIRE_TOKEN_RIGHTS[tokens],
    makers: makers.map((maker) => ({ tokenId: maker.id, limits: toWireLimits(maker.limits) })),
    queue: toWireQueue(boundQueue(principal)),
    label: token.label,
    ...(confirmAboveNanos === undefined ? {} : { confirmAboveNanos }),
    ...optionalTime('expiresAt', expiresAt),
  };
}

export function toWireToken(token: Token, lastChargedAt?: number): WholeMessage<typeof TokenSchema> {
  const { id, accountId, name, limit, confirmAbove } = token;
  return {
    id,
    accountId,
    name,
    models: [...token.models],
    usedNanos: token.used,
    createdAt: timestampFromMs(token.createdAt),
    limits: toWireLimits(token.limits),
    webhooks: WIRE_WEBHOOK_RIGHTS[token.webhooks],
    tokens: WIRE_TOKEN_RIGHTS[token.tokens],
    madeByTokenId: token.madeByTokenId ?? '',
    queue: toWireQueue(token.queue),
    label: token.label,
    hint: token.hint,
    ...(limit === undefined ? {} : { limitNanos: limit }),
    ...(confirmAbove === undefined ? {} : { confirmAboveNanos: confirmAbove }),
    ...optionalTime('expiresAt', token.expiresAt),
    ...optionalTime('revokedAt', token.revokedAt),
    ...optionalTime('lastChargedAt', lastChargedAt),
  };
}

export function toWireListedToken({ token, lastChargedAt }: ListedToken): WholeMessage<typeof TokenSchema> {
  return toWireToken(token, lastChargedAt);
}

function optionalTime<N extends string>(name: N, ms: number | undefined): { readonly [K in N]?: Timestamp } {
  return (ms === undefined ? {} : { [name]: timestampFromMs(ms) }) as { readonly [K in N]?: Timestamp };
}
