import type { NewToken } from '../../console/api/tokens.ts';
import { Problem } from '@reelgate/platform/problem';
import { TOKEN_CLASSES, TOKEN_WAITS } from '../clients/tokens-client.ts';
import type { Revocation, TokenLimits, TokenSettings } from '../clients/tokens-client.ts';
import { bodyValidator, invalid } from '../dialects/wire/body-validator.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { parseNanos } from '../domain/decimal.ts';
import { LABEL, LABEL_MAX, LABEL_RULE } from '../domain/label.ts';

const COUNT_MAX = 2 ** 31 - 1;
const NAME_MAX = 256;
const MODELS_MAX = 1000;
/** The last moment of the year 9999. */
const TIME_MAX = 253_402_300_799_999;

const count = { type: 'integer', minimum: 1, maximum: COUNT_MAX };
const right = { enum: ['write', 'read', 'none'] };

/** The fields for the limits of a token, and for the way in which its tasks wait. */
const LIMIT_FIELDS = {
  limit: { type: 'string', maxLength: 32 },
  createsPerMinute: count,
  readsPerMinute: count,
  callsPerMinute: count,
  inFlight: count,
  wait: { enum: TOKEN_WAITS },
  class: { enum: TOKEN_CLASSES },
  label: { type: 'string', maxLength: LABEL_MAX },
};

const newToken = bodyValidator<NewToken>({
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
export function readRevocation({ params, querystring }: Exchange): Revocation {
  const asked = new URLSearchParams(querystring).get('with_made');
  if (asked !== null && asked !== 'true' && asked !== 'false') throw invalid('with_made', 'must be true or false');
  return { tokenId: params['token_id'] ?? '', withMade: asked === 'true' };
}

/** Reads the form of a new token. */
export function readNewToken(body: unknown): TokenSettings {
  const form = newToken(body);
  const { name, models, webhooks, tokens, expiresAt } = form;
  return { name, models, webhooks, tokens, expiresAt, ...readLimits(form) };
}

type LimitsForm = Partial<NewToken>;

function readLimits({ limit, ...form }: LimitsForm): TokenLimits {
  const { createsPerMinute, readsPerMinute, callsPerMinute, inFlight, wait, class: best, label } = form;
  if (label !== undefined && label !== '' && !LABEL.test(label)) throw invalid('label', LABEL_RULE);
  return {
    limitNanos: limit === undefined ? undefined : readLimit(limit),
    limits: { createsPerMinute, readsPerMinute, callsPerMinute, inFlight },
    queue:
      wait === undefined && best === undefined ? undefined : { wait: wait ?? 'channels', class: best ?? 'standard' },
    label,
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
