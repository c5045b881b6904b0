import type { IncomingMessage } from 'node:http';
import { startTestServer } from '@reelgate/platform/testing/test-server';
import { readFields } from './read-fields.ts';

/** The key that the fake takes, and the one model that it serves. */
export const VLLM_KEY = 'vllm-key';
export const VLLM_MODEL = 'Wan-AI/Wan2.2-TI2V-5B-Diffusers';
export const VLLM_VIDEO = 'the bytes of a video';
/** A prompt that ends in this and a status makes work that fails with that status. */
export const FAILS_WITH = 'fails with ';

type Fields = Readonly<Record<string, unknown>>;
type Job = Fields & { readonly id: string; readonly status: string };
type Answer = readonly [status: number, body: object | string];

/**
 * The video routes of vLLM-Omni 0.30.0 in memory. Work is queued, runs and has ended, a step for each poll. The server
 * reads forms alone, answers a poll of failed work with the status of its error, and cancels by DELETE.
 */
export interface FakeVllmOmni {
  readonly url: string;
  /** The fields of the orders that were accepted, in their order. */
  readonly orders: readonly Fields[];
  /** The ids of unfinished work that was stopped, and of finished work whose video was removed. */
  readonly stopped: readonly string[];
  readonly removed: readonly string[];
  stop(): Promise<void>;
}

const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const matches =
  (pattern: RegExp) =>
  (value: unknown): boolean =>
    typeof value === 'string' && pattern.test(value);
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  prompt: isText,
  model: isText,
  seconds: matches(/^[1-9]\d*$/),
  size: matches(/^\d+x\d+$/),
  seed: matches(/^-?\d+$/),
  guidance_scale: matches(/^\d+(\.\d+)?$/),
  negative_prompt: isText,
  user: isText,
  input_reference: (value) => value instanceof File,
  image_reference: (value) => matches(/^\{"image_url":"(https:|data:)[^"]+"\}$/)(value),
};
const STEPS: Readonly<Record<string, string>> = { queued: 'in_progress', in_progress: 'completed' };
const VIDEO = /^\/v1\/videos\/(video_gen_[\da-f]+)(\/content)?$/;
const LIST_MAX = 100;
const NOT_FOUND = refuse(404, 'Video not found');

function refuse(status: number, message: string): Answer {
  return [
    status,
    { error: { message, type: status === 404 ? 'NotFoundError' : 'BadRequestError', param: null, code: status } },
  ];
}

export async function openFakeVllmOmni(): Promise<FakeVllmOmni> {
  const orders: Fields[] = [];
  const [stopped, removed]: [string[], string[]] = [[], []];
  const jobs = new Map<string, Job>();
  const create = async (request: IncomingMessage): Promise<Answer> => {
    const { body, fields } = await readFields(request);
    const refusal = findRefusal(body, fields);
    if (refusal !== undefined) return refusal;
    orders.push(fields);
    const job = toJob(`video_gen_${orders.length.toString(16).padStart(4, '0')}`, fields);
    jobs.set(job.id, job);
    return [200, job];
  };
  const advance = (job: Job): Answer => {
    const next = STEPS[job.status];
    if (next !== undefined) jobs.set(job.id, endJob({ ...job, status: next }));
    if (job.status !== 'failed') return [200, job];
    return [(job['error'] as { code: number }).code, job];
  };
  const remove = ({ id, status }: Job): Answer => {
    jobs.delete(id);
    (STEPS[status] === undefined ? removed : stopped).push(id);
    return [200, { id, deleted: true, object: 'video.deleted' }];
  };
  const readContent = ({ status }: Job): Answer => {
    if (status === 'failed') return refuse(422, 'Video generation failed. Check job status for error details.');
    return status === 'completed' ? [200, VLLM_VIDEO] : refuse(404, 'Generation is still in-progress');
  };
  const route = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    if (request.headers.authorization !== `Bearer ${VLLM_KEY}`) return [401, { error: 'Unauthorized' }];
    const asked = `${request.method} ${pathname}`;
    if (asked === 'POST /v1/videos') return create(request);
    if (asked === 'GET /v1/videos') return listJobs([...jobs.values()].reverse(), searchParams);
    if (asked === 'GET /v1/models') return [200, { object: 'list', data: [{ id: VLLM_MODEL, object: 'model' }] }];
    const [, id = '', content] = VIDEO.exec(pathname) ?? [];
    const job = jobs.get(id);
    if (job === undefined) return VIDEO.test(pathname) ? NOT_FOUND : refuse(404, 'Not Found');
    if (content !== undefined) return readContent(job);
    return request.method === 'DELETE' ? remove(job) : advance(job);
  };
  const server = await startTestServer((request, response) => {
    void route(request).then(([status, body]) => {
      const type = typeof body === 'string' ? 'video/mp4' : 'application/json';
      response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return { url: server.url, orders, stopped, removed, stop: () => server.stop() };
}

function findRefusal(body: string, fields: Fields): Answer | undefined {
  if (body !== 'form' || fields['prompt'] === undefined)
    return refuse(400, "1 validation error: {'type': 'missing', 'loc': ('body', 'prompt'), 'msg': 'Field required'}");
  const wrong = Object.keys(fields).find((name) => FIELDS[name]?.(fields[name]) === false);
  if (wrong !== undefined) return refuse(400, `1 validation error: {'loc': ('body', '${wrong}')}`);
  const { model, input_reference: file, image_reference: reference } = fields;
  if (file !== undefined && reference !== undefined)
    return refuse(400, 'Provide only one of input_reference, image_reference, or video_reference');
  return model === undefined || model === VLLM_MODEL
    ? undefined
    : refuse(400, `Model mismatch: request specifies '${model as string}' but server is running '${VLLM_MODEL}'.`);
}

function toJob(id: string, { prompt, size = null, seconds = '4' }: Fields): Job {
  return {
    model: VLLM_MODEL,
    prompt,
    id,
    object: 'video',
    status: 'queued',
    size,
    progress: 0,
    seconds,
    quality: 'default',
    completed_at: null,
    created_at: Math.floor(Date.now() / 1000),
    remixed_from_video_id: null,
    error: null,
    media_type: 'video/mp4',
    expires_at: null,
    file_name: null,
    stage_durations: {},
  };
}

function endJob(job: Job): Job {
  if (job.status !== 'completed') return job;
  const completedAt = Math.floor(Date.now() / 1000);
  const [, code] = String(job['prompt']).split(FAILS_WITH);
  return code === undefined
    ? { ...job, progress: 100, completed_at: completedAt, file_name: `${job.id}.mp4` }
    : { ...job, status: 'failed', completed_at: completedAt, error: { code: Number(code), message: 'out of memory' } };
}

function listJobs(newest: readonly Job[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? newest.length);
  const order = query.get('order') ?? 'desc';
  if (!(limit >= 0 && limit <= LIST_MAX) || !['asc', 'desc'].includes(order)) return refuse(400, 'invalid query');
  const sorted = order === 'desc' ? newest : newest.toReversed();
  const after = query.get('after');
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1 || sorted.length;
  const data = sorted.slice(from, from + limit);
  return [
    200,
    {
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: sorted.length > from + limit,
      data,
      object: 'list',
    },
  ];
}
