import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { TokenClass, TokenWait } from '@reelgate/proto/billing/v1/token_queue';
import { TokenRight } from '@reelgate/proto/billing/v1/token_right';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import type { NewToken as NewTokenForm } from '../../console/api/tokens.ts';
import { Problem } from '@reelgate/platform/problem';
import type { NewToken } from '../clients/tokens-client.ts';
import { bodyValidator, invalid } from '../dialects/wire/body-validator.ts';
import { dropUndefined } from '../dialects/wire/task-fields.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { parseNanos } from '../domain/decimal.ts';
import { LABEL, LABEL_MAX, LABEL_RULE } from '../domain/annotations.ts';

const COUNT_MAX = 2 ** 31 - 1;
const NAME_MAX = 256;
const MODELS_MAX = 1000;
/** The last moment of the year 9999. */
const TIME_MAX = 253_402_300_799_999;

const count = { type: 'integer', minimum: 1, maximum: COUNT_MAX };
const WAITS = deriveValues(TokenWait);
const CLASSES = deriveValues(TokenClass);
const TOKEN_RIGHTS = deriveValues(TokenRight);
const WEBHOOK_RIGHTS = deriveValues(WebhookRight);

const right = { enum: ['write', 'read', 'none'] };

/** The fields for the limits of a token, and for the way in which its tasks wait. */
const LIMIT_FIELDS = {
  limit: { type: 'string', maxLength: 32 },
  createsPerMinute: count,
  readsPerMinute: count,
  callsPerMinute: count,
  inFlight: count,
  wait: { enum: Object.keys(WAITS) },
  class: { enum: Object.keys(CLASSES) },
  label: { type: 'string', maxLength: LABEL_MAX },
};

const newToken = bodyValidator<NewTokenForm>({
  type: 'object',
  additionalProperties: false,
  required: ['name', 'models', 'webhooks', 'tokens'],
  properties: {
    name: { type: 'string', minLength: 1, maxLength: NAME_MAX },
    models: { type: 'array', minItems: 1, maxItems: MODELS_MAX, items: { type: 'string', minLength: 1 } },
    expiresAt: { type: 'integer', minimum: 0, maximum: TIME_MAX },
    webhooks: right,
    tokens: right,
    ...LIMIT_FIELDS,
  },
});

/** The token of the path, and whether `with_made=true` asks for all that it made too. */
export function readRevocation({ params, querystring }: Exchange): { readonly id: string; readonly withMade: boolean } {
  const asked = new URLSearchParams(querystring).get('with_made');
  if (asked !== null && asked !== 'true' && asked !== 'false') throw invalid('with_made', 'must be true or false');
  return { id: params['token_id'] ?? '', withMade: asked === 'true' };
}

/** Reads the form of a new token. */
export function readNewToken(body: unknown): NewToken {
  const { name, models, webhooks, tokens, expiresAt, limit, label, wait, class: best, ...limits } = newToken(body);
  if (label !== undefined && label !== '' && !LABEL.test(label)) throw invalid('label', LABEL_RULE);
  const isQueueGiven = wait !== undefined || best !== undefined;
  return {
    name,
    models: [...models],
    webhooks: WEBHOOK_RIGHTS[webhooks],
    tokens: TOKEN_RIGHTS[tokens],
    limits,
    ...(isQueueGiven && { queue: { wait: WAITS[wait ?? 'channels'], class: CLASSES[best ?? 'standard'] } }),
    ...dropUndefined({
      expiresAt: expiresAt === undefined ? undefined : timestampFromMs(expiresAt),
      limitNanos: limit === undefined ? undefined : readLimit(limit),
      label,
    }),
  };
}

function readLimit(text: string): bigint {
  const nanos = parseNanos(text);
  if (nanos !== undefined && nanos >= 0n) return nanos;
  throw invalid('limit', 'must be a decimal such as 12.50, not negative, with at most 9 digits after the point');
}

/** The fields of billing under the names that the forms have. */
const FORM_NAMES: Readonly<Record<string, string>> = {
  limit_nanos: 'limit',
  expires_at: 'expiresAt',
  'limits.creates_per_minute': 'createsPerMinute',
  'limits.reads_per_minute': 'readsPerMinute',
  'limits.calls_per_minute': 'callsPerMinute',
  'limits.in_flight': 'inFlight',
  'queue.wait': 'wait',
  'queue.class': 'class',
};

/** Gives a refusal of billing the name of the form's field. */
export async function inFormTerms<T>(answer: Promise<T>): Promise<T> {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof Problem) || error.field === undefined) throw error;
    const { kind, reason, message, retryAfterMs, field } = error;
    throw new Problem({ kind, reason, message, retryAfterMs, field: FORM_NAMES[field] ?? field, cause: error });
  }
}
