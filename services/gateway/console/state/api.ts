import type { Refusal } from '../api/calls.ts';
import { words } from '../words.ts';
import { toBrowserPath } from './address.ts';

type Plain = (message: string) => string;
const PLAIN: Readonly<Partial<Record<string, Plain>>> = words.faults;
const KEY_BYTES = 16;

/** A refusal of the console's API, in words for the person at the page. */
export class ApiError extends Error {
  /** 0: no answer came. */
  readonly status: number;
  readonly code: string;
  /** The wrong field of a form, or undefined if no field is wrong. */
  readonly field: string | undefined;
  readonly requestId: string | undefined;

  constructor(message: string, about: Pick<ApiError, 'status' | 'code' | 'field' | 'requestId'>) {
    super(message);
    this.status = about.status;
    this.code = about.code;
    this.field = about.field;
    this.requestId = about.requestId;
  }
}

const DEADLINE_MS = 30_000;
const HEADERS = { accept: 'application/json', 'x-reelgate-console': '1' };

export interface Call {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  /** Sent as JSON. */
  readonly body?: object;
  readonly signal?: AbortSignal;
  readonly headers?: Readonly<Record<string, string>>;
  /** The time to wait for the answer. */
  readonly timeoutMs?: number;
}

let whenSignedOut = (): void => undefined;

/** Calls back when an answer says that the session has ended. */
export function onSignedOut(handle: () => void): void {
  whenSignedOut = handle;
}

/** Calls the console's API at a path below `/console/api`. Throws an ApiError. */
export async function api<T>(
  path: string,
  { method = 'GET', body, signal, headers = {}, timeoutMs = DEADLINE_MS }: Call = {},
): Promise<T> {
  const deadline = AbortSignal.timeout(timeoutMs);
  const response = await send(toBrowserPath(`/console/api${path}`), {
    method,
    headers: { ...HEADERS, ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    signal: signal === undefined ? deadline : AbortSignal.any([signal, deadline]),
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  if (response.ok) return (await response.json()) as T;
  const error = await readApiError(response);
  if (endsSession(error) && path !== '/session') whenSignedOut();
  throw error;
}

/** A token that was revoked or has expired is as good as none. */
export function endsSession({ status, code }: Pick<ApiError, 'status' | 'code'>): boolean {
  return status === 401 || code === 'token_disabled';
}

async function send(url: string, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new ApiError('the service cannot be reached', {
      status: 0,
      code: 'unreachable',
      field: undefined,
      requestId: undefined,
    });
  }
}

async function readApiError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => ({}))) as Partial<Refusal>;
  return toApiError(response.status, body, response.headers.get('x-request-id') ?? undefined);
}

/** Converts a refusal to an error for the person at the page. */
export function toApiError(status: number, { error }: Partial<Refusal>, requestId?: string): ApiError {
  const { code = '', message = `the service answered ${status}`, param } = error ?? {};
  return new ApiError(plainMessage({ code, message }), { status, code, field: param ?? undefined, requestId });
}

/** Returns an error as it is shown. A thrown value that is no ApiError is a fault of the page. */
export function asApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  const about = { status: 0, code: 'failed', field: undefined, requestId: undefined };
  return new ApiError(error instanceof Error ? error.message : String(error), about);
}

/** The message of a refusal or a failure for a person at a page. Most messages of the API are for both. */
export function plainMessage({ code, message }: { readonly code: string; readonly message: string }): string {
  return PLAIN[code]?.(message) ?? message;
}

/** Names a request, so that sending it again is harmless. It works on plain http too, where `randomUUID` does not. */
export function newRequestKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(KEY_BYTES));
  return `console-${[...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('')}`;
}

/** The time by which the clock of the service is ahead of the browser's. */
let aheadMs = 0;

/** Takes over the clock of an answer. */
export function setServerClock(now: number): void {
  aheadMs = now - Date.now();
}

/** The time of the service, in milliseconds since 1970. The browser's clock may be wrong. */
export function serverNow(): number {
  return Date.now() + aheadMs;
}
