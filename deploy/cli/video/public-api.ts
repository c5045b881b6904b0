import { CommandFailed } from '../command.ts';

/** The state of a video task, as `GET /v1/videos/{id}` answers it. */
export interface Video {
  readonly id: string;
  readonly status: string;
  readonly progress?: number;
  readonly error?: { readonly code?: string; readonly message?: string };
}

export interface Estimate {
  readonly amount: string;
  readonly currency: string;
}

/** An answer other than a success. */
export class ApiRefusal extends CommandFailed {
  readonly status: number;

  constructor(status: number, message: string) {
    super(`refused with ${status}: ${message}`);
    this.status = status;
  }
}

/** No answer came, so the outcome at the gateway is unknown. */
export class NoAnswer extends CommandFailed {}

export interface PublicApi {
  readonly url: string;
  isReady(): Promise<boolean>;
  estimate(body: object): Promise<Estimate>;
  create(body: object, idempotencyKey: string): Promise<string>;
  read(taskId: string): Promise<Video>;
  /** The bytes of the finished video. */
  content(taskId: string): Promise<ReadableStream<Uint8Array>>;
}

const DEADLINE_MS = 30_000;
const CREATE_DEADLINE_MS = 120_000;
const CONTENT_DEADLINE_MS = 15 * 60_000;

/** The public HTTP API, as any client calls it. `stop` aborts the calls that are under way. */
export function publicApi(url: string, token: string, stop: AbortSignal): PublicApi {
  const send = async (target: string, init: RequestInit, timeoutMs = DEADLINE_MS): Promise<Response> => {
    try {
      // eslint-disable-next-line no-restricted-globals -- the operator names this address, as a client of the gateway
      return await fetch(url + target, { ...init, signal: AbortSignal.any([stop, AbortSignal.timeout(timeoutMs)]) });
    } catch (error) {
      throw new NoAnswer(`no answer from ${url}: ${describeError(error)}`);
    }
  };
  const authorization = `Bearer ${token}`;
  const post = (target: string, body: object, headers: object = {}): Promise<Response> =>
    send(
      target,
      {
        method: 'POST',
        body: JSON.stringify(body),
        headers: { authorization, 'content-type': 'application/json', ...headers },
      },
      CREATE_DEADLINE_MS,
    );
  const get = (target: string, timeoutMs?: number): Promise<Response> =>
    send(target, { headers: { authorization } }, timeoutMs);
  return {
    url,
    isReady: async () => {
      try {
        return (await send('/readyz', {})).ok;
      } catch {
        return false;
      }
    },
    estimate: async (body) => (await readJson(await post('/v1/videos/estimate', body))) as Estimate,
    create: async (body, key) => {
      const { id } = (await readJson(await post('/v1/videos', body, { 'idempotency-key': key }))) as Video;
      return id;
    },
    read: async (taskId) => (await readJson(await get(`/v1/videos/${encodeURIComponent(taskId)}`))) as Video,
    content: async (taskId) => {
      const response = await get(`/v1/videos/${encodeURIComponent(taskId)}/content`, CONTENT_DEADLINE_MS);
      if (!response.ok || response.body === null) throw await readRefusal(response);
      return response.body;
    },
  };
}

async function readJson(response: Response): Promise<unknown> {
  if (!response.ok) throw await readRefusal(response);
  try {
    return await response.json();
  } catch (error) {
    throw new NoAnswer(`the answer broke off: ${describeError(error)}`);
  }
}

async function readRefusal(response: Response): Promise<ApiRefusal> {
  const text = await response.text().catch(() => '');
  return new ApiRefusal(response.status, readMessage(text) ?? response.statusText);
}

function readMessage(text: string): string | undefined {
  try {
    return (JSON.parse(text) as { readonly error?: { readonly message?: string } }).error?.message;
  } catch {
    return undefined;
  }
}

function describeError(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message : message;
}
