import { EVENT_TYPES } from '../clients/webhooks-client.ts';
import type { EndpointChange, EndpointSettings } from '../clients/webhooks-client.ts';
import { objectSchema } from '../domain/schema.ts';
import type { Schema } from '../domain/schema.ts';
import { bodyValidator } from '../dialects/wire/body-validator.ts';
import { readExchangeBody } from '../http/bodies/read-body.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import type { Exchange } from '../http/http-exchange.ts';

const NAME_CHARACTERS_MAX = 256;
const URL_CHARACTERS_MAX = 2048;
const UNIX_SECONDS_MAX = 99_999_999_999;

/** One of the types of events. */
export const EVENT_TYPE = { title: 'EventType', type: 'string', enum: EVENT_TYPES } as const satisfies Schema;
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

/** The bodies of the routes, as they are documented and checked. */
export const WEBHOOK_BODIES = {
  create: { title: 'WebhookEndpointCreate', ...objectSchema(settings, ['payload']) },
  update: {
    title: 'WebhookEndpointUpdate',
    ...objectSchema(
      {
        ...settings,
        status: {
          enum: ['enabled', 'disabled'],
          description: 'enabled: deliveries begin again, and the failures are forgotten.',
        },
      },
      ['name', 'url', 'event_types', 'payload', 'status'],
    ),
  },
  rotate: {
    title: 'WebhookSecretRotation',
    ...objectSchema(
      {
        keep_old_secret_active_for_24_hours: {
          type: 'boolean',
          description: 'Whether deliveries are signed with both secrets for 24 hours. Default: false.',
        },
      },
      ['keep_old_secret_active_for_24_hours'],
    ),
  },
  test: { title: 'WebhookEndpointTest', ...objectSchema({ event_type: EVENT_TYPE }) },
  resend: {
    title: 'WebhookResend',
    ...objectSchema({
      since: {
        type: 'integer',
        minimum: 0,
        maximum: UNIX_SECONDS_MAX,
        description: 'Unix seconds: only deliveries that were made then or later.',
        examples: [1_795_334_516],
      },
    }),
  },
} as const;

const shapes = {
  create: bodyValidator(WEBHOOK_BODIES.create),
  update: bodyValidator(WEBHOOK_BODIES.update),
  rotate: bodyValidator(WEBHOOK_BODIES.rotate),
  test: bodyValidator(WEBHOOK_BODIES.test),
  resend: bodyValidator(WEBHOOK_BODIES.resend),
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
