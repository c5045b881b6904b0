import type { EnvelopeName } from '../dialects/dialect.ts';
import { newAnswer, objectSchema } from '../domain/schema.ts';
import type { Answer } from '../domain/schema.ts';
import type { ErrorRow, ErrorStatus } from './error-table.ts';
import { dialects } from '../dialects/index.ts';

export interface Refusal {
  readonly row: ErrorRow;
  readonly code: string;
  readonly message: string;
  readonly param: string | undefined;
  /** More of the refusal for programs, such as an amount. */
  readonly metadata?: Readonly<Record<string, string>> | undefined;
  readonly requestId: string;
}

/**
 * OpenRouter's clients read 402 as the lack of money. They repeat every 5xx for an hour, even with `x-should-retry:
 * false`, so a refusal that must not be repeated is a 424, which they show at once.
 */
const OPENROUTER_STATUSES = { noMoney: 402, notToRepeat: 424 } as const;
/** The statuses with which no refusal may be repeated. */
const NEVER_REPEATED: ReadonlySet<number> = new Set([501, 502, 504]);

/** Returns the row of a refusal with the status that one family of clients knows. */
export function fitRow(name: EnvelopeName, row: ErrorRow, isUncertain: boolean): ErrorRow {
  if (name !== 'openrouter') return row;
  const { noMoney, notToRepeat } = OPENROUTER_STATUSES;
  if (row.type === 'insufficient_quota') return { ...row, status: noMoney };
  return row.status >= 500 && (row.final === true || isUncertain) ? { ...row, status: notToRepeat } : row;
}

/** Returns the statuses of a route that spends money, as one family of clients knows them. */
export function fitStatuses<S extends number>(name: EnvelopeName, statuses: readonly S[]): readonly (S | 402 | 424)[] {
  if (name !== 'openrouter') return statuses;
  return [...statuses.filter((status) => !NEVER_REPEATED.has(status)), ...Object.values(OPENROUTER_STATUSES)];
}

const ANTHROPIC_TYPES: Readonly<Partial<Record<ErrorStatus, string>>> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  408: 'timeout_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  500: 'api_error',
  501: 'api_error',
  502: 'api_error',
  503: 'overloaded_error',
  504: 'timeout_error',
};

const GOOGLE_STATUS: Readonly<Record<ErrorStatus, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  402: 'RESOURCE_EXHAUSTED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'NOT_FOUND',
  408: 'DEADLINE_EXCEEDED',
  409: 'FAILED_PRECONDITION',
  410: 'NOT_FOUND',
  413: 'INVALID_ARGUMENT',
  415: 'INVALID_ARGUMENT',
  422: 'FAILED_PRECONDITION',
  424: 'FAILED_PRECONDITION',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  502: 'UNAVAILABLE',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

/** Numbers of JSON-RPC. A refusal before a tool is called is an error of the transport, if no row says otherwise. */
const JSON_RPC_SERVER_ERROR = -32_000;
const JSON_RPC_CODES: Readonly<Record<string, number>> = {
  invalid_json: -32_700,
  invalid_request: -32_600,
  not_found: -32_601,
  internal_error: -32_603,
};

const text = { type: 'string' } as const;
const isError = { const: 'error' } as const;

const openaiSchema = {
  title: 'Error',
  ...objectSchema({
    error: objectSchema(
      {
        message: text,
        type: text,
        param: { type: ['string', 'null'] },
        code: text,
        metadata: {
          type: 'object',
          additionalProperties: text,
          description: 'Of price_above_max: amount, currency, and max_amount, the least that is accepted.',
        },
      },
      ['metadata'],
    ),
  }),
} as const;
const vendorSchema = {
  title: 'VendorError',
  ...objectSchema({
    type: isError,
    request_id: text,
    error: objectSchema({
      type: text,
      message: { ...text, description: "Ends with the vendor's error number.", pattern: '\\([0-9]+\\)$' },
      http_code: { ...text, pattern: '^[45][0-9]{2}$' },
    }),
  }),
} as const;
const anthropicSchema = {
  title: 'MessagesError',
  ...objectSchema({ type: isError, request_id: text, error: objectSchema({ type: text, message: text }) }),
} as const;
const googleSchema = {
  title: 'GoogleError',
  ...objectSchema({ error: objectSchema({ code: { type: 'integer' }, message: text, status: text }) }),
} as const;
const openrouterSchema = {
  title: 'OpenRouterError',
  ...objectSchema({
    error: objectSchema({
      code: { type: 'integer', description: 'The status.' },
      message: text,
      metadata: {
        type: 'object',
        required: ['reason'],
        additionalProperties: text,
        description: 'The reason as a word, and in `param` the field, if there is one.',
      },
    }),
  }),
} as const;
const mcpSchema = {
  title: 'McpError',
  ...objectSchema({
    jsonrpc: { const: '2.0' },
    id: { type: ['string', 'number', 'null'] },
    error: objectSchema(
      { code: { type: 'integer' }, message: text, data: { description: 'With the reason in `code`.' } },
      ['data'],
    ),
  }),
} as const;

/** The shape of a refusal for each family of clients. */
export const ENVELOPES: Readonly<Record<EnvelopeName, Answer<[refusal: Refusal]>>> = {
  openai: newAnswer(openaiSchema, ({ row, code, message, param = null, metadata }) => ({
    error: { message, type: row.type, param, code, ...(metadata && { metadata }) },
  })),
  vendor: newAnswer(vendorSchema, ({ row, message, requestId }) => ({
    type: 'error',
    error: {
      type: row.vendor.type,
      message: `${message} (${row.vendor.number})`,
      http_code: String(row.status),
    },
    request_id: requestId,
  })),
  anthropic: newAnswer(anthropicSchema, ({ row, message, requestId }) => ({
    type: 'error',
    error: { type: ANTHROPIC_TYPES[row.status] ?? 'invalid_request_error', message },
    request_id: requestId,
  })),
  google: newAnswer(googleSchema, ({ row, message }) => ({
    error: { code: row.status, message, status: GOOGLE_STATUS[row.status] },
  })),
  openrouter: newAnswer(openrouterSchema, ({ row, code, message, param, metadata }) => ({
    error: {
      code: row.status,
      message,
      metadata: { ...metadata, reason: code, ...(param === undefined ? {} : { param }) },
    },
  })),
  mcp: newAnswer(mcpSchema, ({ code, message }) => ({
    jsonrpc: '2.0',
    id: null,
    error: { code: JSON_RPC_CODES[code] ?? JSON_RPC_SERVER_ERROR, message, data: { code } },
  })),
};

export function enclose(name: EnvelopeName, refusal: Refusal): object {
  return ENVELOPES[name].encode(refusal);
}

/** The routes without a dialect, also among the paths of a dialect. A dialect names its own envelope. */
const OTHERS: readonly (readonly [RegExp, EnvelopeName])[] = [
  [/^(\/api)?\/v1\/messages(\/|$)/, 'anthropic'],
  [/^(\/upload)?\/v1(alpha|beta)(\/|$)/, 'google'],
  [/^\/mcp(\/|$)/, 'mcp'],
  [/^\/v1\/models\/.+:\w+$/, 'google'],
];

/** Chooses the envelope of a refusal at this path, whether a route has it or not. */
export function chooseEnvelope(path: string): EnvelopeName {
  const [, other] = OTHERS.find(([pattern]) => pattern.test(path)) ?? [];
  return other ?? dialects.find(({ refusals }) => isFrom(path, refusals?.from))?.refusals?.envelope ?? 'openai';
}

function isFrom(path: string, from: string | undefined): boolean {
  return from !== undefined && (path === from || path.startsWith(`${from}/`));
}
