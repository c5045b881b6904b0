import type { IncomingMessage, ServerResponse } from 'node:http';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** The key that the fake takes. */
export const XAI_KEY = 'xai-key';
/** A prompt with this word is refused, and one with the other makes a video that is held back. */
export const REFUSED_WORD = 'forbidden';
export const HELD_BACK_WORD = 'doubtful';
export const XAI_VIDEO = 'the bytes of a video';

interface Work {
  readonly model: string;
  readonly prompt: string;
  readonly duration: number;
  polls: number;
}

/** The video API of xAI in memory. Work is pending for two polls, first without a body, and then done. */
export interface FakeXai {
  readonly url: string;
  /** The bodies of the orders, in their order. */
  readonly orders: readonly Readonly<Record<string, unknown>>[];
  stop(): Promise<void>;
}

const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: isText,
  prompt: isText,
  user: isText,
  duration: (value) => Number.isInteger(value),
  aspect_ratio: isText,
  resolution: isText,
  image: hasUrl,
  last_frame: hasUrl,
  reference_images: (value) => Array.isArray(value) && value.every(hasUrl),
  reference_audios: (value) => Array.isArray(value) && value.every(hasUrl),
};
const MODELS = ['grok-imagine-video', 'grok-imagine-video-1.5'];
const RESOLUTIONS = ['480p', '720p', '1080p'];
const DURATION_MAX = 15;
const TICKS_A_SECOND = 500_000_000;
const ID = /^\/v1\/videos\/(req-\d+)$/;
const FILE = /^\/files\/(req-\d+)\.mp4$/;

export async function openFakeXai(): Promise<FakeXai> {
  const orders: Readonly<Record<string, unknown>>[] = [];
  const works = new Map<string, Work>();
  const create = async (request: IncomingMessage): Promise<Answer> => {
    const body = JSON.parse((await readWhole(request)).toString()) as Record<string, unknown>;
    const refusal = findRefusal(body);
    if (refusal !== undefined) return refusal;
    orders.push(body);
    const { model, prompt, duration = 8 } = body as { model: string; prompt: string; duration?: number };
    works.set(`req-${orders.length}`, { model, prompt, duration, polls: 0 });
    return [200, { request_id: `req-${orders.length}` }];
  };
  const answer = async (request: IncomingMessage): Promise<Answer> => {
    const { method, url = '' } = request;
    if (FILE.test(url)) return [200, XAI_VIDEO];
    if (request.headers.authorization !== `Bearer ${XAI_KEY}`) return WRONG_KEY;
    if (method === 'GET' && url === '/v1/models') return [200, { data: MODELS.map((id) => ({ id })) }];
    if (method === 'POST' && url === '/v1/videos/generations') return create(request);
    const id = ID.exec(url)?.[1] ?? '';
    const work = works.get(id);
    if (method !== 'GET' || work === undefined)
      return [404, { code: 'Some requested entity was not found', error: 'Request not found' }];
    work.polls += 1;
    return toAnswer(work, `${server.url}/files/${id}.mp4`);
  };
  const server = await startTestServer((request, response) => {
    void answer(request).then((answered) => {
      send(response, answered);
    });
  });
  return { url: server.url, orders, stop: () => server.stop() };
}

type Answer = readonly [status: number, body?: object | string];

const WRONG_KEY: Answer = [
  400,
  {
    code: 'Client specified an invalid argument',
    error: 'Incorrect API key provided: xa***ey. You can obtain an API key from https://console.x.ai.',
  },
];

function toAnswer({ model, prompt, duration, polls }: Work, url: string): Answer {
  if (polls === 1) return [202];
  if (polls === 2) return [202, { status: 'pending', progress: 40 }];
  if (prompt.includes(HELD_BACK_WORD))
    return [400, { code: 'imagine:content-moderated', error: 'Generated video rejected by content moderation.' }];
  const video = { url, duration, respect_moderation: true };
  const usage = { cost_in_usd_ticks: duration * TICKS_A_SECOND };
  return [200, { status: 'done', video, model, usage, progress: 100 }];
}

/** Unknown fields and wrong types are 422 in plain text, because the server reads the body into a fixed type. */
function findRefusal(body: Readonly<Record<string, unknown>>): Answer | undefined {
  const wrong = Object.entries(body).find(([name, value]) => FIELDS[name]?.(value) !== true)?.[0];
  if (wrong !== undefined) return [422, `Failed to deserialize the JSON body into the target type: ${wrong}`];
  const { model, prompt } = body;
  if (!MODELS.includes(String(model)))
    return [404, { code: 'Some requested entity was not found', error: `The model ${String(model)} does not exist` }];
  if (String(prompt).includes(REFUSED_WORD))
    return [400, { code: 'imagine:content-moderated', error: 'The prompt was rejected by content moderation.' }];
  return isPossible(body) ? undefined : [400, { code: 'invalid-argument', error: 'Invalid video request' }];
}

function isPossible(body: Readonly<Record<string, unknown>>): boolean {
  const { model, duration = 8, resolution = '480p', image, reference_images: references } = body;
  const isLength = Number(duration) >= 1 && Number(duration) <= DURATION_MAX;
  const isFlat = resolution !== '1080p' || (model !== 'grok-imagine-video' && references === undefined);
  const isOneKind = image === undefined || references === undefined;
  return isLength && isFlat && isOneKind && RESOLUTIONS.includes(String(resolution));
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function hasUrl(value: unknown): boolean {
  return typeof value === 'object' && value !== null && isText((value as { url?: unknown }).url);
}

function send(response: ServerResponse, [status, body]: Answer): void {
  const type = typeof body === 'string' ? 'text/plain' : 'application/json';
  response.writeHead(status, { 'content-type': type }).end(typeof body === 'object' ? JSON.stringify(body) : body);
}
