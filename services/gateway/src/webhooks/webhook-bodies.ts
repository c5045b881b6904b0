import type { EndpointChange, EndpointSettings, WebhookPayload } from '../clients/webhook-endpoint.ts';
import type { Schema } from '../dialects/dialect.ts';
import { bodyValidator } from '../dialects/wire/body-validator.ts';
import { EVENT_TYPES } from '../clients/client-event.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import type { Exchange } from '../http/http-exchange.ts';

const NAME_CHARACTERS_MAX = 256;
const URL_CHARACTERS_MAX = 2048;
const UNIX_SECONDS_MAX = 99_999_999_999;

/** One of the types of events. */
export const EVENT_TYPE: Schema = { title: 'EventType', type: 'string', enum: EVENT_TYPES };
const settings = {
  name: { type: 'string', minLength: 1, maxLength: NAME_CHARACTERS_MAX, description: 'A name for people.' },
  url: {
    type: 'string',
    minLength: 1,
    maxLength: URL_CHARACTERS_MAX,
    description: 'The HTTPS URL that receives deliveries.',
    examples: ['https://example.com/webhooks'],
  },
  event_types: {
    type: 'array',
    minItems: 1,
    maxItems: EVENT_TYPES.length,
    items: EVENT_TYPE,
    description: 'The types of the events that the endpoint hears.',
  },
  payload: {
    enum: ['thin', 'full'],
    description:
      'thin: the id of the task or call. full: also the task or call, as a status read answers, without the charge.',
  },
} as const;
const body = (
  title: string,
  properties: Readonly<Record<string, Schema>>,
  required: readonly string[] = [],
): Schema => ({
  title,
  type: 'object',
  additionalProperties: false,
  required,
  properties,
});

/** The bodies of the routes, as they are documented and checked. */
export const WEBHOOK_BODIES = {
  create: body('WebhookEndpointCreate', settings, ['name', 'url', 'event_types']),
  update: body('WebhookEndpointUpdate', {
    ...settings,
    status: {
      enum: ['enabled', 'disabled'],
      description: 'enabled: deliveries begin again, and the failures are forgotten.',
    },
  }),
  rotate: body('WebhookSecretRotation', {
    keep_old_secret_active_for_24_hours: {
      type: 'boolean',
      description: 'Whether deliveries are signed with both secrets for 24 hours. Default: false.',
    },
  }),
  test: body('WebhookEndpointTest', { event_type: EVENT_TYPE }, ['event_type']),
  resend: body(
    'WebhookResend',
    {
      since: {
        type: 'integer',
        minimum: 0,
        maximum: UNIX_SECONDS_MAX,
        description: 'Unix seconds: only deliveries that were made then or later.',
        examples: [1_795_334_516],
      },
    },
    ['since'],
  ),
} as const;

interface SettingsBody {
  readonly name: string;
  readonly url: string;
  readonly event_types: readonly string[];
  readonly payload?: WebhookPayload;
}
type UpdateBody = Partial<SettingsBody> & { readonly status?: 'enabled' | 'disabled' };

const shapes = {
  create: bodyValidator<SettingsBody>(WEBHOOK_BODIES.create),
  update: bodyValidator<UpdateBody>(WEBHOOK_BODIES.update),
  rotate: bodyValidator<{ readonly keep_old_secret_active_for_24_hours?: boolean }>(WEBHOOK_BODIES.rotate),
  test: bodyValidator<{ readonly event_type: string }>(WEBHOOK_BODIES.test),
  resend: bodyValidator<{ readonly since: number }>(WEBHOOK_BODIES.resend),
};

export function decodeCreate(json: unknown): EndpointSettings {
  const { name, url, event_types: eventTypes, payload = 'thin' } = shapes.create(json);
  return { name, url, eventTypes, payload };
}

export function decodeUpdate(json: unknown): EndpointChange {
  const { name, url, event_types: eventTypes, payload, status } = shapes.update(json);
  return { name, url, eventTypes, payload, isDisabled: status === undefined ? undefined : status === 'disabled' };
}

export function decodeRotation(json: unknown): { readonly keepOldSecret: boolean } {
  return { keepOldSecret: shapes.rotate(json).keep_old_secret_active_for_24_hours ?? false };
}

export function decodeTest(json: unknown): string {
  return shapes.test(json).event_type;
}

/** Milliseconds since 1970. */
export function decodeSince(json: unknown): number {
  return shapes.resend(json).since * 1000;
}

/** The body of a request. One without a body is an empty object, because some routes need none. */
export async function readOptionalBody(exchange: Exchange, bounds: BodyBounds): Promise<unknown> {
  const { 'content-length': length = '0', 'transfer-encoding': encoding } = exchange.req.headers;
  if (length === '0' && encoding === undefined) return {};
  const read = await readExchangeBody(exchange, bounds, false);
  return 'json' in read ? read.json : undefined;
}
