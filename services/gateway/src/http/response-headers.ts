import type { Schema } from '../domain/schema.ts';

interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly required?: true;
}

const whole: Schema = { type: 'integer', minimum: 0 };
const text: Schema = { type: 'string' };

/** The response headers that matter to a client, by name. */
export const RESPONSE_HEADERS = {
  'x-request-id': {
    description: "The id of the request: the client's own x-request-id if it is valid, otherwise a new one.",
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    required: true,
  },
  'x-ratelimit-limit': {
    description: 'The number of requests of this kind that the token may send per minute.',
    schema: whole,
  },
  'x-ratelimit-remaining': { description: 'The number of requests left.', schema: whole },
  'x-ratelimit-reset': { description: 'Seconds until the current window ends.', schema: whole },
  'retry-after': {
    description: 'Seconds after which a retry can succeed; absent if it cannot.',
    schema: { type: 'integer', minimum: 1 },
  },
  'x-should-retry': {
    description: 'Present if a client must not retry automatically.',
    schema: { const: 'false' },
  },
  'www-authenticate': { description: 'The authentication scheme.', schema: { const: 'Bearer' }, required: true },
  'idempotent-replayed': {
    description: 'Present if the idempotency key returned an earlier answer.',
    schema: { const: 'true' },
  },
  'openai-poll-after-ms': {
    description: 'Milliseconds after which to poll again; absent once the task is final.',
    schema: { type: 'integer', minimum: 1000, maximum: 60_000 },
  },
  'preference-applied': {
    description: 'The preferences that were applied.',
    schema: { type: 'string', examples: ['wait=20'] },
  },
  'accept-ranges': { description: 'Range requests are supported.', schema: { const: 'bytes' } },
  'content-range': { description: 'The range that is returned, and the total number of bytes.', schema: text },
  'content-disposition': { description: 'The suggested file name.', schema: text },
  location: { description: 'A URL of the bytes, valid for a short time.', schema: text, required: true },
  upgrade: { description: 'The protocol that this route requires.', schema: { const: 'websocket' }, required: true },
} as const satisfies Readonly<Record<string, Header>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The headers of every answer on a route with a token. */
export const LIMIT_HEADERS: readonly ResponseHeader[] = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];
