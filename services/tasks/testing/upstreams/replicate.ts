import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** The key that the fake takes, and the secret with which it signs callbacks. */
export const REPLICATE_KEY = 'r8-key';
export const REPLICATE_SECRET = `whsec_${Buffer.from('a secret of the account').toString('base64')}`;
export const REPLICATE_VIDEO = 'the bytes of a video';
/** A prompt with this word makes no video. */
export const FLAGGED_WORD = 'doubtful';
/** A model that is not official, so it is named by its version. */
export const REPLICATE_VERSION = '39ed52f2';

type Fields = Readonly<Record<string, unknown>>;
type Prediction = Fields & { readonly id: string; readonly created_at: string };
type Answer = readonly [status: number, body: object];

/** The predictions of Replicate in memory. Work starts, runs and has ended, a step for each poll. */
export interface FakeReplicate {
  readonly url: string;
  /** The bodies of the orders that were accepted, each with the path of its request. */
  readonly orders: readonly (Fields & { readonly path: string })[];
  /** Accepts the next order and cuts the connection before the answer. */
  loseNextAnswer(): void;
  /** The callback about a prediction, as it would be sent now. */
  signCallback(id: string): { readonly headers: Readonly<Record<string, string>>; readonly body: string };
  stop(): Promise<void>;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isWhole = (value: unknown): boolean => Number.isInteger(value);
const isOneFrom =
  (...values: readonly unknown[]) =>
  (value: unknown): boolean =>
    values.includes(value);
const isTextList = (value: unknown): boolean => Array.isArray(value) && value.length > 0 && value.every(isText);

/** The inputs of the models. Each model refuses any other. */
const INPUTS: Readonly<Record<string, Readonly<Record<string, (value: unknown) => boolean>>>> = {
  'google/veo-3.1': {
    prompt: isText,
    duration: isOneFrom(4, 6, 8),
    resolution: isOneFrom('720p', '1080p'),
    aspect_ratio: isOneFrom('16:9', '9:16'),
    image: isText,
    last_frame: isText,
    reference_images: isTextList,
    generate_audio: (value) => typeof value === 'boolean',
    negative_prompt: isText,
    seed: isWhole,
  },
  'kwaivgi/kling-v2.5-turbo-pro': {
    prompt: isText,
    duration: isOneFrom(5, 10),
    aspect_ratio: isOneFrom('16:9', '9:16', '1:1'),
    start_image: isText,
    end_image: isText,
    negative_prompt: isText,
  },
  'acme/clips': { text: isText, length: isWhole },
};
const BODY: Readonly<Record<string, (value: unknown) => boolean>> = {
  input: (value) => typeof value === 'object' && value !== null,
  version: isOneFrom(REPLICATE_VERSION),
  webhook: (value) => isText(value) && URL.canParse(String(value)),
  webhook_events_filter: (value) =>
    isTextList(value) && (value as unknown[]).every(isOneFrom('start', 'output', 'logs', 'completed')),
};
const MODEL = /^\/v1\/models\/([^/]+\/[^/]+)\/predictions$/;
const PREDICTION = /^\/v1\/predictions\/(p\d+)(\/cancel)?$/;
/** The API has pages of 100. Small ones show that all of them are read. */
const PAGE = 2;
const REFUSED_KEY: Answer = refuse(401, 'You did not pass a valid authentication token', 'Unauthenticated');
const NOT_FOUND: Answer = refuse(404, 'The requested resource could not be found.', 'Not found');
const STEPS: Readonly<Record<string, string>> = { starting: 'processing', processing: 'succeeded' };

function refuse(status: number, detail: string, title: string): Answer {
  return [status, { title, detail, status }];
}

export async function openFakeReplicate(): Promise<FakeReplicate> {
  const orders: (Fields & { readonly path: string })[] = [];
  const works = new Map<string, Prediction>();
  let isNextLost = false;
  const advance = (work: Prediction): Prediction => {
    const next = STEPS[String(work['status'])];
    if (next === undefined) return work;
    const moved = { ...work, ...(next === 'succeeded' ? endWork(work, server.url) : { status: next }) };
    works.set(work.id, moved);
    return work;
  };
  const cancel = (work: Prediction): Prediction => {
    const isEnded = STEPS[String(work['status'])] === undefined;
    const left = isEnded ? work : { ...work, status: 'canceled', completed_at: new Date().toISOString() };
    works.set(work.id, left);
    return left;
  };
  const create = async (path: string, request: IncomingMessage): Promise<Answer> => {
    const body = JSON.parse((await readWhole(request)).toString()) as Fields;
    const model = MODEL.exec(path)?.[1] ?? (body['version'] === REPLICATE_VERSION ? 'acme/clips' : '');
    const refusal = findRefusal(model, body);
    if (refusal !== undefined) return refusal;
    orders.push({ ...body, path });
    const work = toPrediction(`p${orders.length}`, model, body);
    works.set(work.id, work);
    return [201, work];
  };
  const route = async ({ pathname, searchParams }: URL, request: IncomingMessage): Promise<Answer> => {
    if (request.headers.authorization !== `Bearer ${REPLICATE_KEY}`) return REFUSED_KEY;
    const [, id = '', isCancel] = PREDICTION.exec(pathname) ?? [];
    const work = works.get(id);
    const asked = `${request.method} ${pathname}`;
    if (asked === 'GET /v1/account') return [200, { type: 'organization', username: 'acme', name: 'Acme' }];
    if (asked === 'GET /v1/predictions') return [200, listPage([...works.values()].reverse(), searchParams)];
    if (work !== undefined && request.method === (isCancel === undefined ? 'GET' : 'POST'))
      return [200, isCancel === undefined ? advance(work) : cancel(work)];
    const isCreate = request.method === 'POST' && (pathname === '/v1/predictions' || MODEL.test(pathname));
    return isCreate ? create(pathname, request) : NOT_FOUND;
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '', server.url);
    if (url.pathname.startsWith('/files/')) return void response.end(REPLICATE_VIDEO);
    const [status, body] = await route(url, request);
    if (isNextLost && status === 201) {
      isNextLost = false;
      return void response.socket?.resetAndDestroy();
    }
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  };
  const server = await startTestServer((request, response) => void answer(request, response));
  return {
    url: server.url,
    orders,
    loseNextAnswer: () => {
      isNextLost = true;
    },
    signCallback: (id) => signBody(JSON.stringify(works.get(id))),
    stop: () => server.stop(),
  };
}

function findRefusal(model: string, body: Fields): Answer | undefined {
  const inputs = INPUTS[model];
  if (inputs === undefined) return NOT_FOUND;
  const wrong = Object.keys(body).find((name) => BODY[name]?.(body[name]) !== true);
  if (wrong !== undefined || body['input'] === undefined)
    return refuse(422, `- ${wrong ?? 'input'} is invalid`, 'Invalid request');
  const input = body['input'] as Fields;
  const field = Object.keys(input).find((name) => inputs[name]?.(input[name]) !== true);
  return field === undefined ? undefined : refuse(422, `- input.${field} is invalid`, 'Input validation failed');
}

function toPrediction(id: string, model: string, body: Fields): Prediction {
  const { input, version = 'hidden', webhook, webhook_events_filter: events } = body;
  return {
    id,
    model,
    version,
    input,
    status: 'starting',
    output: null,
    error: null,
    logs: '',
    metrics: {},
    source: 'api',
    data_removed: false,
    created_at: new Date().toISOString(),
    started_at: null,
    completed_at: null,
    ...(webhook === undefined ? {} : { webhook, webhook_events_filter: events }),
    urls: { get: `https://api.replicate.com/v1/predictions/${id}`, cancel: '' },
  };
}

function endWork({ id, input }: Prediction, url: string): Fields {
  const ended = { completed_at: new Date().toISOString(), metrics: { predict_time: 1, total_time: 2 } };
  return JSON.stringify(input).includes(FLAGGED_WORD)
    ? { ...ended, status: 'failed', error: 'The input or output was flagged as sensitive. Please try again. (E005)' }
    : { ...ended, status: 'succeeded', output: `${url}/files/${id}.mp4` };
}

/** The cursor is the number of the first row. */
function listPage(works: readonly Prediction[], query: URLSearchParams): object {
  const [after, first] = [query.get('created_after') ?? '', Number(query.get('cursor') ?? 0)];
  const rows = works.filter(({ created_at: createdAt }) => createdAt >= after);
  const hasMore = rows.length > first + PAGE;
  return {
    previous: null,
    next: hasMore ? `https://api.replicate.com/v1/predictions?created_after=${after}&cursor=${first + PAGE}` : null,
    results: rows.slice(first, first + PAGE),
  };
}

function signBody(body: string): ReturnType<FakeReplicate['signCallback']> {
  const [id, timestamp] = ['msg_1', String(Math.floor(Date.now() / 1000))];
  const key = Buffer.from(REPLICATE_SECRET.replace('whsec_', ''), 'base64');
  const signature = createHmac('sha256', key).update(`${id}.${timestamp}.${body}`).digest('base64');
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,b2xk v1,${signature}` },
    body,
  };
}
