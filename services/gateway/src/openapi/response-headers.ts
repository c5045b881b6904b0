import type { Schema } from '../dialects/dialect.ts';

interface Header {
  readonly description: string;
  readonly schema: Schema;
  readonly required?: true;
}

const whole: Schema = { type: 'integer', minimum: 0 };
const text: Schema = { type: 'string' };

/** Headers of answers that mean something to a client, by their names. */
export const RESPONSE_HEADERS = {
  'x-request-id': {
    description: "The name of the request: the client's own if it sent a sane one.",
    schema: { type: 'string', minLength: 1, maxLength: 128 },
    required: true,
  },
  'x-ratelimit-limit': { description: 'Requests of this sort that the token may send in a minute.', schema: whole },
  'x-ratelimit-remaining': { description: 'How many of them are left.', schema: whole },
  'x-ratelimit-reset': { description: 'Seconds until there is one more.', schema: whole },
  'retry-after': {
    description: 'Seconds after which asking again can help; absent where it cannot.',
    schema: { type: 'integer', minimum: 1 },
  },
  'x-should-retry': {
    description: 'Present where clients that retry by themselves must not.',
    schema: { const: 'false' },
  },
  'www-authenticate': { description: 'How to name the token.', schema: { const: 'Bearer' }, required: true },
  'idempotent-replayed': {
    description: 'Present where the key of the request gave an earlier answer again.',
    schema: { const: 'true' },
  },
  'openai-poll-after-ms': {
    description: 'Milliseconds after which another look can show something new; absent at the end.',
    schema: { type: 'integer', minimum: 500, maximum: 60_000 },
  },
  'preference-applied': {
    description: 'The seconds that the answer was held for at most.',
    schema: { type: 'string', pattern: '^wait=[0-9]+$' },
  },
  'accept-ranges': { description: 'Whether a part can be asked for.', schema: { const: 'bytes' } },
  'content-range': { description: 'Which part it is, and of how many bytes.', schema: text },
  'content-disposition': { description: 'The name of the file.', schema: text },
  location: { description: 'Where the bytes are, for a short time.', schema: text, required: true },
  upgrade: { description: 'The protocol of this route.', schema: { const: 'websocket' }, required: true },
} as const satisfies Readonly<Record<string, Header>>;

export type ResponseHeader = keyof typeof RESPONSE_HEADERS;

/** The component of a header. */
const componentOf = (name: ResponseHeader): string =>
  name
    .split('-')
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1))
    .join('');

export const headerComponents: Readonly<Record<string, Header>> = Object.fromEntries(
  Object.entries(RESPONSE_HEADERS).map(([name, header]) => [componentOf(name as ResponseHeader), header]),
);

export function headersOf(names: readonly ResponseHeader[]): object {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${componentOf(name)}` }]));
}

/** Of every answer to a token. */
export const LIMIT_HEADERS: readonly ResponseHeader[] = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
];
