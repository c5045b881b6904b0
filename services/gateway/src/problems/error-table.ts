import { CONTENT_CODINGS } from '@reelgate/platform/http/content-codings';
import type { ProblemKind } from '@reelgate/platform/problem';

/** A kind of error in the vendor's envelope: its type, and the number at the end of the message. */
export interface VendorError {
  readonly type: string;
  readonly number: number;
}

const VENDOR = {
  params: { type: 'bad_request_error', number: 2013 },
  authorization: { type: 'authorized_error', number: 1004 },
  content: { type: 'unprocessable_entity_error', number: 1026 },
  rate: { type: 'rate_limit_error', number: 1002 },
  balance: { type: 'insufficient_balance_error', number: 1008 },
  server: { type: 'server_error', number: 1000 },
} as const satisfies Readonly<Record<string, VendorError>>;

const TYPES = {
  400: 'invalid_request_error',
  401: 'authentication_error',
  402: 'insufficient_quota',
  403: 'permission_error',
  404: 'invalid_request_error',
  405: 'invalid_request_error',
  408: 'invalid_request_error',
  409: 'invalid_request_error',
  410: 'invalid_request_error',
  413: 'invalid_request_error',
  415: 'invalid_request_error',
  422: 'invalid_request_error',
  424: 'server_error',
  426: 'invalid_request_error',
  429: 'rate_limit_error',
  500: 'server_error',
  501: 'not_implemented_error',
  502: 'server_error',
  503: 'server_error',
  504: 'server_error',
} as const;
export type ErrorStatus = keyof typeof TYPES;

export interface ErrorRow {
  readonly status: ErrorStatus;
  /** `error.type` in the /v1 envelope. */
  readonly type: string;
  readonly vendor: VendorError;
  /** `error.code` in the /v1 envelope, if it is not the reason itself. */
  readonly code?: string;
  /** Retry-After in seconds, if the problem itself has no time. */
  readonly retryAfterS?: number;
  /** SDKs retry this status automatically, but a retry cannot succeed or may repeat paid work. */
  readonly final?: true;
  /** A create with this answer has not reached a generator, so the client can send it again. */
  readonly untouched?: true;
  /** Headers that every answer of this row has. */
  readonly headers?: Readonly<Record<string, string>>;
}

const row = (
  status: ErrorStatus,
  vendor: VendorError,
  more: Partial<Omit<ErrorRow, 'status' | 'vendor'>> = {},
): ErrorRow => ({ status, type: TYPES[status], vendor, ...more });

const BY_KIND: Readonly<Record<ProblemKind, ErrorRow>> = {
  invalid: row(400, VENDOR.params),
  unauthenticated: row(401, VENDOR.authorization, { headers: { 'www-authenticate': 'Bearer' } }),
  forbidden: row(403, VENDOR.authorization),
  not_found: row(404, VENDOR.params),
  conflict: row(409, VENDOR.params, { final: true }),
  exhausted: row(429, VENDOR.rate, { retryAfterS: 1 }),
  unprocessable: row(422, VENDOR.params),
  gone: row(410, VENDOR.params),
  unavailable: row(503, VENDOR.server, { retryAfterS: 1 }),
  internal: row(500, VENDOR.server),
};

/** The reasons that need another answer than their kind. */
const BY_REASON: Readonly<Record<string, ErrorRow>> = {
  content_rejected: row(422, VENDOR.content),
  rate_limit_exceeded: row(429, VENDOR.rate, { retryAfterS: 1 }),
  too_many_tasks: row(429, VENDOR.rate, { retryAfterS: 5 }),
  insufficient_quota: row(429, VENDOR.balance, { type: 'insufficient_quota', final: true }),
  body_too_large: row(413, VENDOR.params),
  body_too_slow: row(408, VENDOR.params),
  unsupported_media_type: row(415, VENDOR.params),
  unsupported_content_encoding: row(415, VENDOR.params, { headers: { 'accept-encoding': CONTENT_CODINGS } }),
  upgrade_required: row(426, VENDOR.params),
  method_not_allowed: row(405, VENDOR.params, { code: 'not_found' }),
  api_not_implemented: row(501, VENDOR.server, { final: true }),
  idempotency_key_in_use: row(409, VENDOR.params, { retryAfterS: 1 }),
  task_not_completed: row(409, VENDOR.params, { final: true, retryAfterS: 3 }),
  no_channel_available: row(503, VENDOR.server, { retryAfterS: 5, untouched: true }),
  // a client that repeats the call may pay for it twice
  upstream_failed: row(502, VENDOR.server, { final: true }),
  upstream_timeout: row(504, VENDOR.server, { final: true }),
  // media are staged before the order is submitted
  media_busy: row(503, VENDOR.server, { retryAfterS: 1, untouched: true }),
  sign_out_incomplete: row(503, VENDOR.server, { final: true }),
  storage_unavailable: row(503, VENDOR.server, { retryAfterS: 5, untouched: true }),
  gateway_busy: row(503, VENDOR.server, { retryAfterS: 1, untouched: true }),
};

/** Finds the answer to a refusal, by its reason or else by its kind. */
export function findErrorRow({ kind, reason }: { readonly kind: ProblemKind; readonly reason: string }): ErrorRow {
  return (Object.hasOwn(BY_REASON, reason) ? BY_REASON[reason] : undefined) ?? BY_KIND[kind];
}

/** Reports whether a create that failed with this problem, after it was sent, may still have taken effect. */
export function isUncertain(problem: {
  readonly kind: ProblemKind;
  readonly reason: string;
  readonly retryAfterMs: number | undefined;
}): boolean {
  const { status, untouched } = findErrorRow(problem);
  const nothingBegun = untouched === true || (problem.kind === 'unavailable' && problem.retryAfterMs !== undefined);
  return status >= 500 && !nothingBegun;
}
