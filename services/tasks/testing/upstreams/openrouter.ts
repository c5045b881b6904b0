import { createHmac } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Json } from '@reelgate/adapter-kit';
import { readList, readObject, readText } from '@reelgate/adapter-kit/kit';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** The video that every job ends with, and what it costs in US dollars. */
export const OPENROUTER_VIDEO = 'the bytes of a video';
export const OPENROUTER_COST = 0.4;
/** Prompts that the moderation flags at once, and that a provider refuses later. */
export const FLAGGED_PROMPT = 'a flagged fox';
export const REFUSED_PROMPT = 'a fox that a provider refuses';

/** A callback as the upstream would send it. */
export interface OpenRouterCallback {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The video API of OpenRouter in memory: a job moves on at each poll. */
export interface FakeOpenRouter {
  readonly url: string;
  /** Method and path of every request, in order. */
  readonly requests: readonly string[];
  /** The body of the last job that was created. */
  readonly lastJob: () => Json | undefined;
  /** Writes the callback of a job that has a URL for it, signed with the secret of the workspace. */
  writeCallback(id: string, secret: string, seconds: number): OpenRouterCallback;
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly bytes?: string;
}
interface Job {
  readonly order: Json;
  polls: number;
}
interface World {
  readonly url: string;
  readonly key: string;
  readonly jobs: Map<string, Job>;
}
/** `id`: the part of the path that the pattern names. */
type Handler = (world: World, id: string, body: unknown) => Reply;

const MODEL = { id: 'google/veo-3.1', supported_durations: [4, 6, 8], supported_resolutions: ['720p', '1080p', '4K'] };
const ROUTES: readonly (readonly [string, RegExp, Handler])[] = [
  ['GET', /^\/api\/v1\/key$/, () => ({ status: 200, json: { data: { label: 'sk-or-v1-…', usage: 0 } } })],
  ['POST', /^\/api\/v1\/videos$/, createJob],
  ['GET', /^\/api\/v1\/videos\/([^/]+)$/, readJob],
  ['GET', /^\/api\/v1\/videos\/([^/]+)\/content$/, readContent],
];

export async function openFakeOpenRouter(key: string): Promise<FakeOpenRouter> {
  const requests: string[] = [];
  const jobs = new Map<string, Job>();
  const { url, stop } = await startTestServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    void readWhole(request).then((body) => {
      send(response, answer({ url, key, jobs }, request, body.toString('utf8')));
    });
  });
  return {
    url,
    requests,
    lastJob: () => [...jobs.values()].at(-1)?.order,
    writeCallback: (id, secret, seconds) => writeCallback({ url, key, jobs }, id, secret, seconds),
    close: stop,
  };
}

function send(response: ServerResponse, { status, json, bytes }: Reply): void {
  response
    .writeHead(status, { 'content-type': bytes === undefined ? 'application/json' : 'video/mp4' })
    .end(bytes ?? JSON.stringify(json));
}

function answer(world: World, { method, url = '', headers }: IncomingMessage, text: string): Reply {
  const { pathname } = new URL(url, world.url);
  // The models are public.
  if (pathname === '/api/v1/videos/models') return { status: 200, json: { data: [toModel(MODEL)] } };
  if (headers.authorization !== `Bearer ${world.key}`) return refuse(401, 'User not found.');
  if (method === 'POST' && headers['content-type'] !== 'application/json') return refuse(400, 'The body is not JSON');
  for (const [verb, pattern, handle] of ROUTES) {
    const found = verb === method ? pattern.exec(pathname) : null;
    if (found !== null) return handle(world, decodeURIComponent(found[1] ?? ''), JSON.parse(text || '{}'));
  }
  return refuse(404, `${method} ${pathname} does not exist`);
}

function toModel(known: Json): Json {
  return {
    allowed_passthrough_parameters: [],
    canonical_slug: known['id'],
    created: 1_764_000_000,
    creativity: null,
    generate_audio: true,
    name: known['id'],
    seed: null,
    supported_aspect_ratios: null,
    supported_frame_images: null,
    supported_sizes: null,
    upscale_factor: null,
    ...known,
  };
}

function refuse(status: number, message: string, metadata?: Json): Reply {
  return { status, json: { error: { code: status, message, ...(metadata === undefined ? {} : { metadata }) } } };
}

const RESOLUTIONS = ['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K', undefined];
const RATIOS = ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21', undefined];
/** The rule of each field of a create. */
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  model: (value) => readText(value) !== undefined,
  prompt: (value) => value === undefined || readText(value) !== undefined,
  duration: (value) => value === undefined || Number.isInteger(value),
  resolution: (value) => (RESOLUTIONS as unknown[]).includes(value),
  aspect_ratio: (value) => (RATIOS as unknown[]).includes(value),
  generate_audio: (value) => value === undefined || typeof value === 'boolean',
  seed: (value) => value === undefined || Number.isInteger(value),
  frame_images: (value) => value === undefined || readList(value).every(isFrame),
  input_references: (value) => value === undefined || readList(value).every(isReference),
  callback_url: (value) => value === undefined || readText(value)?.startsWith('https://') === true,
};

function isReference(item: unknown): boolean {
  const { type, ...rest } = readObject(item);
  const isKnown = type === 'image_url' || type === 'video_url' || type === 'audio_url';
  return isKnown && /^(https|data):/.test(readText(readObject(rest[type])['url']) ?? '');
}

function isFrame(item: unknown): boolean {
  const { frame_type: frameType, type } = readObject(item);
  return isReference(item) && type === 'image_url' && (frameType === 'first_frame' || frameType === 'last_frame');
}

function createJob({ jobs }: World, _id: string, body: unknown): Reply {
  const order = readObject(body);
  const known = Object.keys(FIELDS);
  const wrong = [...known, ...Object.keys(order)].find((field) => FIELDS[field]?.(order[field]) !== true);
  if (wrong !== undefined) return refuse(400, `${wrong}: Invalid input`, { error_type: 'invalid_request' });
  if (order['model'] !== MODEL.id) return refuse(404, `No endpoints found for ${String(order['model'])}`);
  if (order['prompt'] === FLAGGED_PROMPT) return refuse(403, 'Your input was flagged', { reasons: ['violence'] });
  const id = `gen-vid-1764000000-${jobs.size + 1}`;
  jobs.set(id, { order, polls: 0 });
  return { status: 202, json: toJob(id, 'pending') };
}

function toJob(id: string, status: string, more: Json = {}): Json {
  return { id, polling_url: `/api/v1/videos/${id}`, status, ...more };
}

function readJob({ url, jobs }: World, id: string): Reply {
  const job = jobs.get(id);
  if (job === undefined) return refuse(404, 'Video job not found');
  job.polls += 1;
  if (job.polls < 3) return { status: 200, json: toJob(id, job.polls === 1 ? 'pending' : 'in_progress') };
  return { status: 200, json: toEndedJob(url, id, job) };
}

function toEndedJob(url: string, id: string, { order }: Job): Json {
  return order['prompt'] === REFUSED_PROMPT
    ? toJob(id, 'failed', { error: 'Content policy violation' })
    : toJob(id, 'completed', {
        generation_id: `gen-${id}`,
        unsigned_urls: [`${url}/api/v1/videos/${id}/content?index=0`],
        usage: { cost: OPENROUTER_COST, is_byok: false },
      });
}

function readContent({ jobs }: World, id: string): Reply {
  const job = jobs.get(id);
  if (job === undefined) return refuse(404, 'Video job not found');
  return job.polls < 3 ? refuse(409, 'The video is not ready') : { status: 200, bytes: OPENROUTER_VIDEO };
}

function writeCallback({ url, jobs }: World, id: string, secret: string, seconds: number): OpenRouterCallback {
  const job = jobs.get(id) ?? { order: {}, polls: 0 };
  const data = { ...toEndedJob(url, id, job), model: null };
  const type = `video.generation.${String(readObject(data)['status'])}`;
  const body = JSON.stringify({ type, created_at: new Date(seconds * 1000).toISOString(), data });
  const mac = createHmac('sha256', secret).update(`${seconds},${body}`).digest('hex');
  return {
    url: readText(job.order['callback_url']) ?? '',
    headers: {
      'content-type': 'application/json',
      'x-openrouter-idempotency-key': `${id}-completed`,
      'x-openrouter-signature': `t=${seconds},v1=${mac}`,
    },
    body,
  };
}
