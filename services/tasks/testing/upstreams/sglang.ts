import type { IncomingMessage } from 'node:http';
import { startTestServer } from '@reelgate/platform/testing/test-server';
import { readFields } from './read-fields.ts';
import type { ReadFields } from './read-fields.ts';

/** The one model that the fake serves. The server has no authentication. */
export const SGLANG_MODEL = 'Wan-AI/Wan2.1-T2V-1.3B-Diffusers';
export const SGLANG_VIDEO = 'the bytes of a video';
/** A prompt with this word makes work that fails. */
export const FAILING_WORD = 'impossible';

type Fields = Readonly<Record<string, unknown>>;
type Job = Fields & { readonly id: string; readonly status: string };
type Answer = readonly [status: number, body: object | string];

/**
 * The video routes of SGLang-Diffusion 0.5.23 in memory. Work is queued, runs and has ended, a step for each poll. The
 * server reads JSON and forms, takes a frame as a text or a file, and goes on with work that is deleted.
 */
export interface FakeSglang {
  readonly url: string;
  /** The fields of the orders that were accepted, in their order. */
  readonly orders: readonly Fields[];
  stop(): Promise<void>;
}

const isText = (value: unknown): boolean => typeof value === 'string';
/** Numbers may be texts in JSON too, because the models of the server convert them. */
const isWhole = (value: unknown): boolean => Number.isInteger(value) || /^-?\d+$/.test(String(value));
const isNumber = (value: unknown): boolean => !Number.isNaN(Number.parseFloat(String(value)));
const FIELDS: Readonly<Record<string, (value: unknown) => boolean>> = {
  prompt: isText,
  model: isText,
  seconds: isWhole,
  size: isText,
  seed: isWhole,
  negative_prompt: isText,
  guidance_scale: isNumber,
  input_reference: isText,
  reference_url: isText,
};
const STEPS: Readonly<Record<string, string>> = { queued: 'in_progress', in_progress: 'completed' };
const VIDEO = /^\/v1\/videos\/([\w-]+)(\/content)?$/;
const [LIST_DEFAULT, LIST_MAX] = [20, 100];
/** The server makes frames whose sides are multiples of this number, and names what it makes. */
const GRID = 16;

/** `cloud`: results go to cloud storage, as an address in `url`. Otherwise they stay at `…/content`. */
export async function openFakeSglang({ cloud = false } = {}): Promise<FakeSglang> {
  const orders: Fields[] = [];
  const jobs = new Map<string, Job>();
  const failing = new Set<string>();
  const create = async (request: IncomingMessage): Promise<Answer> => {
    const read = await readFields(request);
    const refusal = findRefusal(read);
    if (refusal !== undefined) return refusal;
    orders.push(read.fields);
    const job = toJob(`job-${orders.length}`, read.fields);
    jobs.set(job.id, job);
    if (String(read.fields['prompt']).includes(FAILING_WORD)) failing.add(job.id);
    return [200, job];
  };
  const advance = (job: Job): Answer => {
    const next = STEPS[job.status];
    if (next === 'in_progress') jobs.set(job.id, { ...job, status: next, progress: 50 });
    if (next === 'completed')
      jobs.set(job.id, failing.has(job.id) ? failJob(job) : endJob(job, cloud ? `${server.url}/bucket` : undefined));
    return [200, job];
  };
  const remove = (job: Job): Answer => {
    jobs.delete(job.id);
    return [200, { ...job, status: 'deleted' }];
  };
  const readContent = ({ status, url }: Job): Answer => {
    if (isText(url))
      return refuse(400, `Video has been uploaded to cloud storage. Please use the cloud URL: ${String(url)}`);
    return status === 'completed' ? [200, SGLANG_VIDEO] : refuse(404, 'Generation is still in-progress');
  };
  const route = async (request: IncomingMessage): Promise<Answer> => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://localhost');
    const asked = `${request.method} ${pathname}`;
    if (pathname.startsWith('/bucket/')) return [200, SGLANG_VIDEO];
    if (asked === 'POST /v1/videos') return create(request);
    if (asked === 'GET /v1/videos') return listJobs([...jobs.values()].reverse(), searchParams);
    if (asked === 'GET /v1/models') return [200, { object: 'list', data: [{ id: SGLANG_MODEL, object: 'model' }] }];
    const [, id = '', content] = VIDEO.exec(pathname) ?? [];
    const job = jobs.get(id);
    if (job === undefined) return refuse(404, VIDEO.test(pathname) ? 'Video not found' : 'Not Found');
    if (content !== undefined) return readContent(job);
    return request.method === 'DELETE' ? remove(job) : advance(job);
  };
  const server = await startTestServer((request, response) => {
    void route(request).then(([status, body]) => {
      const type = typeof body === 'string' ? 'video/mp4' : 'application/json';
      response.writeHead(status, { 'content-type': type }).end(typeof body === 'string' ? body : JSON.stringify(body));
    });
  });
  return { url: server.url, orders, stop: () => server.stop() };
}

function refuse(status: number, detail: string | readonly object[]): Answer {
  return [status, { detail }];
}

/** A fault of a form is 422 with a list, but that of JSON is 400 with a text. */
function findRefusal({ body, fields }: ReadFields): Answer | undefined {
  const isForm = body === 'form';
  const wrong = Object.keys(fields).find((name) =>
    isForm && name === 'input_reference' ? !(fields[name] instanceof File) : FIELDS[name]?.(fields[name]) === false,
  );
  if (wrong !== undefined)
    return isForm
      ? refuse(422, [{ type: 'int_parsing', loc: ['body', wrong], msg: 'Input should be valid', input: '' }])
      : refuse(400, `Invalid request body: 1 validation error for VideoGenerationsRequest\n${wrong}`);
  if (fields['prompt'] === undefined)
    return refuse(400, isForm ? 'prompt is required' : 'Invalid request body: prompt\n  Field required');
  const reference = fields['reference_url'] as string | undefined;
  return reference === undefined || /^(https?:\/\/|data:image)/i.test(reference)
    ? undefined
    : refuse(400, 'Failed to process image source: Unsupported image url format');
}

function toJob(id: string, { model = SGLANG_MODEL, size = '832x480', seconds = 4 }: Fields): Job {
  const made = (size as string).replaceAll(/\d+/g, (side) => String(Math.floor(Number(side) / GRID) * GRID));
  return {
    id,
    object: 'video',
    model,
    status: 'queued',
    progress: 0,
    created_at: Math.floor(Date.now() / 1000),
    size: made,
    seconds: String(seconds),
    quality: 'standard',
    url: null,
    urls: null,
    remixed_from_video_id: null,
    completed_at: null,
    expires_at: null,
    error: null,
    file_path: `/srv/outputs/${id}.mp4`,
    file_paths: null,
  };
}

function failJob(job: Job): Job {
  return { ...job, status: 'failed', error: { message: 'CUDA out of memory' }, file_path: null };
}

function endJob(job: Job, bucket: string | undefined): Job {
  const url = bucket === undefined ? null : `${bucket}/${job.id}.mp4`;
  const path = url === null ? job['file_path'] : null;
  return {
    ...job,
    status: 'completed',
    progress: 100,
    completed_at: Math.floor(Date.now() / 1000),
    url,
    urls: [url],
    file_path: path,
    file_paths: [path],
  };
}

function listJobs(newest: readonly Job[], query: URLSearchParams): Answer {
  const limit = Number(query.get('limit') ?? LIST_DEFAULT);
  if (!(limit >= 1 && limit <= LIST_MAX))
    return refuse(422, [{ type: 'less_than_equal', loc: ['query', 'limit'], msg: 'Input should be at most 100' }]);
  const sorted = query.get('order') === 'asc' ? newest.toReversed() : newest;
  const after = query.get('after');
  const from = after === null ? 0 : sorted.findIndex(({ id }) => id === after) + 1 || sorted.length;
  const data = sorted.slice(from, from + limit);
  return [
    200,
    {
      data,
      object: 'list',
      first_id: data[0]?.id ?? null,
      last_id: data.at(-1)?.id ?? null,
      has_more: sorted.length > from + limit,
    },
  ];
}
