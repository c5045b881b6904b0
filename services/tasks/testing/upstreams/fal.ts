import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** The key that the fake takes. */
export const FAL_KEY = 'fal-key';
/** A prompt with this word is taken, and its work fails. */
export const REFUSED_WORD = 'forbidden';
export const FAL_VIDEO = 'the bytes of a video';

type Input = Readonly<Record<string, unknown>>;

/** An order as it came, with the headers of its create. */
export interface FalOrder {
  readonly endpoint: string;
  readonly webhook: string | undefined;
  readonly isTriedOnce: boolean;
  readonly input: Input;
}

interface Work extends FalOrder {
  readonly id: string;
  readonly sentAt: string;
  polls: number;
  cancelled: boolean;
}

/** The queue of fal and the history of its platform in memory. Work waits for one poll, runs for one, and is done. */
export interface FakeFal {
  readonly url: string;
  readonly orders: readonly FalOrder[];
  /** Accepts the next order, and cuts the connection in place of an answer. */
  loseNextAnswer(): void;
  stop(): Promise<void>;
}

type Answer = readonly [status: number, body: object | string, headers?: Readonly<Record<string, string>>];
type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string' && value !== '';
const isFlag: Check = (value) => typeof value === 'boolean';
const isWhole: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0;
const isTextList: Check = (value) => Array.isArray(value) && value.length > 0 && value.every(isText);
const buildWordCheck = (words: string): Check => {
  const list = words.split(' ');
  return (value) => typeof value === 'string' && list.includes(value);
};

const VEO = {
  duration: buildWordCheck('4s 6s 8s'),
  resolution: buildWordCheck('720p 1080p'),
  aspect_ratio: buildWordCheck('16:9 9:16'),
  generate_audio: isFlag,
};
const VEO_FREE = { ...VEO, negative_prompt: isText, seed: isWhole };
const VEO_FRAMED = { ...VEO_FREE, aspect_ratio: buildWordCheck('auto 16:9 9:16') };
const KLING = {
  duration: buildWordCheck('3 4 5 6 7 8 9 10 11 12 13 14 15'),
  generate_audio: isFlag,
  negative_prompt: isText,
  cfg_scale: (value: unknown) => typeof value === 'number',
};

/** The inputs beside `prompt` of some endpoints. The last of them are required. */
const ENDPOINTS: Readonly<Record<string, readonly [Readonly<Record<string, Check>>, ...(readonly string[])]>> = {
  'fal-ai/veo3.1': [VEO_FREE],
  'fal-ai/veo3.1/image-to-video': [{ ...VEO_FRAMED, image_url: isText }, 'image_url'],
  'fal-ai/veo3.1/first-last-frame-to-video': [
    { ...VEO_FRAMED, resolution: buildWordCheck('720p 1080p 4k'), first_frame_url: isText, last_frame_url: isText },
    'first_frame_url',
    'last_frame_url',
  ],
  'fal-ai/veo3.1/reference-to-video': [{ ...VEO, image_urls: isTextList }, 'image_urls'],
  'fal-ai/kling-video/v3/pro/text-to-video': [{ ...KLING, aspect_ratio: buildWordCheck('16:9 9:16 1:1') }],
  'fal-ai/kling-video/v3/pro/image-to-video': [
    { ...KLING, start_image_url: isText, end_image_url: isText },
    'start_image_url',
  ],
};
const ROUTE = /^\/([\w-]+\/[\w.-]+)\/requests\/([\w-]+)(\/status|\/cancel)?$/;
const FILE = /^\/files\/[\w-]+\.mp4$/;
const HISTORY = '/v1/models/requests/by-endpoint';
const UNKNOWN_REQUEST: Answer = [404, { detail: 'Request not found' }];

export async function openFakeFal(): Promise<FakeFal> {
  const works: Work[] = [];
  let isNextLost = false;
  const create = async (request: IncomingMessage, { pathname, searchParams }: URL): Promise<Answer | undefined> => {
    const endpoint = pathname.slice(1);
    if (!Object.hasOwn(ENDPOINTS, endpoint)) return [404, { detail: `Application "${endpoint}" not found` }];
    const id = `00000000-0000-4000-8000-${String(works.length + 1).padStart(12, '0')}`;
    works.push({
      id,
      endpoint,
      webhook: searchParams.get('fal_webhook') ?? undefined,
      isTriedOnce: request.headers['x-fal-no-retry'] === '1',
      input: JSON.parse((await readWhole(request)).toString()) as Input,
      sentAt: new Date().toISOString(),
      polls: 0,
      cancelled: false,
    });
    const isLost = isNextLost;
    isNextLost = false;
    const base = `https://queue.fal.run/${readApp(endpoint)}/requests/${id}`;
    const links = { response_url: base, status_url: `${base}/status`, cancel_url: `${base}/cancel` };
    return isLost ? undefined : [200, { request_id: id, status: 'IN_QUEUE', queue_position: 0, ...links }];
  };
  const answer = async (request: IncomingMessage): Promise<Answer | undefined> => {
    const { method = '', url = '', headers } = request;
    const asked = new URL(url, server.url);
    if (FILE.test(asked.pathname)) return [200, FAL_VIDEO];
    if (headers.authorization !== `Key ${FAL_KEY}`) return [401, { detail: 'Authentication is required' }];
    if (method === 'POST') return create(request, asked);
    if (asked.pathname === HISTORY) return [200, listHistory(works, asked.searchParams)];
    const [, app, id, action = '/result'] = ROUTE.exec(asked.pathname) ?? [];
    const work = works.find((one) => one.id === id && readApp(one.endpoint) === app);
    const act = ACTIONS[`${method} ${action}`];
    if (act === undefined) return [405, { detail: 'Method Not Allowed' }];
    return work === undefined ? UNKNOWN_REQUEST : act(work, server.url);
  };
  const server = await startTestServer((request, response) => {
    void answer(request).then((answered) => {
      if (answered === undefined) request.socket.destroy();
      else send(response, answered);
    });
  });
  return {
    url: server.url,
    orders: works,
    loseNextAnswer: () => {
      isNextLost = true;
    },
    stop: () => server.stop(),
  };
}

const ACTIONS: Readonly<Record<string, (work: Work, base: string) => Answer>> = {
  'GET /status': (work) => {
    work.polls += 1;
    const { id, polls, cancelled } = work;
    if (cancelled)
      return [200, { status: 'COMPLETED', request_id: id, error: 'Cancelled', error_type: 'client_cancelled' }];
    if (polls === 1) return [202, { status: 'IN_QUEUE', request_id: id, queue_position: 0 }];
    if (polls === 2) return [202, { status: 'IN_PROGRESS', request_id: id, logs: null }];
    return [200, { status: 'COMPLETED', request_id: id, metrics: { inference_time: 3.1 } }];
  },
  'GET /result': (work, base) => {
    if (work.cancelled) return [500, { detail: 'Cancelled', error_type: 'client_cancelled' }];
    if (work.polls < 3) return [400, { detail: 'Request is still in progress' }];
    const failure = findFailure(work);
    return failure === undefined
      ? [200, { video: { url: `${base}/files/${work.id}.mp4`, content_type: 'video/mp4' } }]
      : [422, { detail: [failure] }, { 'x-fal-retryable': 'false' }];
  },
  'PUT /cancel': (work) => {
    if (work.polls >= 3 || work.cancelled) return [400, { status: 'ALREADY_COMPLETED' }];
    if (work.polls === 2) return [202, { status: 'CANCELLATION_REQUESTED' }];
    work.cancelled = true;
    return [200, { status: 'OK' }];
  },
};

/** The runner checks the input, so the queue takes any. */
function findFailure({ endpoint, input }: Work): object | undefined {
  const [fields = {}, ...required] = ENDPOINTS[endpoint] ?? [];
  const checks: Readonly<Record<string, Check>> = { ...fields, prompt: isText };
  const wrong =
    Object.entries(input).find(([name, value]) => checks[name]?.(value) !== true)?.[0] ??
    ['prompt', ...required].find((name) => input[name] === undefined);
  if (wrong !== undefined) return { loc: ['body', wrong], msg: `The field ${wrong} is wrong`, type: 'value_error' };
  return String(input['prompt']).includes(REFUSED_WORD)
    ? { loc: ['body', 'prompt'], msg: 'The content could not be processed.', type: 'content_policy_violation' }
    : undefined;
}

function listHistory(works: readonly Work[], query: URLSearchParams): object {
  const endpoints = query.get('endpoint_id')?.split(',') ?? [];
  const start = query.get('start') ?? '';
  const items = works
    .filter(({ endpoint, sentAt }) => endpoints.includes(endpoint) && sentAt >= start)
    .map(({ id, endpoint, sentAt, input }) => ({
      request_id: id,
      endpoint_id: endpoint,
      sent_at: sentAt,
      ...(query.get('expand') === 'payloads' ? { json_input: input } : {}),
    }));
  return { items, next_cursor: null, has_more: false };
}

function readApp(endpoint: string): string {
  return endpoint.split('/').slice(0, 2).join('/');
}

function send(response: ServerResponse, [status, body, headers = {}]: Answer): void {
  const type = typeof body === 'string' ? 'video/mp4' : 'application/json';
  response
    .writeHead(status, { 'content-type': type, ...headers })
    .end(typeof body === 'string' ? body : JSON.stringify(body));
}
