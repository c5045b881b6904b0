import type { IncomingMessage, ServerResponse } from 'node:http';
import { readObject, readText } from '@reelgate/adapter-kit/kit';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** A loopback server that answers as the video synthesis of DashScope does. */
export interface FakeDashscope {
  readonly url: string;
  /** The accepted bodies. */
  readonly accepted: readonly Fields[];
  /** Refuses the next create, because there are too many. */
  throttleNext(): void;
  /** Makes the task unknown to the next read, as after the death of a worker. */
  hideOnce(taskId: string): void;
  close(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;
interface Answer {
  readonly status: number;
  readonly json: Fields;
}
interface Work {
  readonly id: string;
  readonly model: string;
  readonly prompt: string;
  readonly parameters: Fields;
  status: 'PENDING' | 'RUNNING' | 'SUCCEEDED' | 'FAILED' | 'CANCELED';
  isHidden: boolean;
}

export const DASHSCOPE_VIDEO = Buffer.from('a video of the fake DashScope');
/** Prompts with these words are refused, and fail. */
export const REFUSED_WORDS = 'forbidden words';
export const FAILING_WORDS = 'failing words';

const SUBMIT = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASK = /^\/api\/v1\/tasks\/([\w-]+)(\/cancel)?$/;
const LIST = /^\/api\/v1\/tasks\/?$/;
const VIDEO = '/result/video.mp4';
const TIMES = { submit_time: '2026-04-13 10:45:47.597', scheduled_time: '2026-04-13 10:45:48.100' };
const END_TIME = '2026-04-13 10:47:57.340';
const NEXT = { PENDING: 'RUNNING', RUNNING: 'SUCCEEDED' } as const;

const isText = (value: unknown): boolean => readText(value) !== undefined;
const isFlag = (value: unknown): boolean => typeof value === 'boolean';
const isWhole = (value: unknown): boolean => Number.isInteger(value);
const isOneOf =
  (...values: readonly string[]) =>
  (value: unknown): boolean =>
    values.includes(value as string);
type Checks = Readonly<Record<string, (value: unknown) => boolean>>;
const MEDIA = isOneOf('first_frame', 'last_frame', 'reference_image', 'reference_video', 'reference_audio');
const INPUT: Checks = {
  prompt: isText,
  negative_prompt: (value) => isText(value) && String(value).length <= 500,
  img_url: isText,
  audio_url: isText,
  reference_urls: (value) => Array.isArray(value) && value.length > 0 && value.every(isText),
  media: (value) =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.map(readObject).every(({ type, url }) => MEDIA(type) && isText(url)),
};
const PARAMETERS: Checks = {
  size: (value) => typeof value === 'string' && /^\d{3,4}\*\d{3,4}$/.test(value),
  resolution: isOneOf('480P', '720P', '1080P'),
  ratio: isOneOf('16:9', '9:16', '1:1', '4:3', '3:4', '21:9', 'adaptive'),
  duration: isWhole,
  seed: (value) => isWhole(value) && Number(value) >= 0 && Number(value) < 2 ** 31,
  watermark: isFlag,
  prompt_extend: isFlag,
  audio: isFlag,
};

/** The fields of input and parameters that a model must have, and those that it must not have, by a part of its id. */
const RULES: readonly (readonly [RegExp, readonly string[], readonly string[]])[] = [
  [/-t2v/, ['prompt'], ['img_url', 'media', 'reference_urls']],
  [/^wan2\.[56]-i2v/, ['img_url'], ['media', 'reference_urls', 'size', 'ratio']],
  [/^(wan2\.7|happyhorse-.*)-i2v/, ['media'], ['img_url', 'reference_urls', 'size', 'ratio']],
  [/^wan2\.6-r2v/, ['reference_urls'], ['media', 'img_url', 'resolution', 'ratio']],
  [/^(wan2\.7|happyhorse-.*)-r2v/, ['media'], ['img_url', 'reference_urls', 'size']],
  [/^wan2\.[56]-t2v/, [], ['resolution', 'ratio']],
  [/^(wan2\.7|happyhorse|wan3)/, [], ['size', 'img_url', 'reference_urls']],
];
const MODELS =
  /^(wan2\.5-(t2v|i2v)-preview|wan2\.[67]-(t2v|i2v|r2v)(-flash)?|wan3\.0-video(-prime)?|happyhorse-1\.[01]-(t2v|i2v|r2v))$/;

export async function openFakeDashscope(key: string): Promise<FakeDashscope> {
  const works: Work[] = [];
  const accepted: Fields[] = [];
  let throttlesNext = false;

  const { url, stop } = await startTestServer((request, response) => {
    void handle(request, response);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readWhole(request);
    const { pathname } = new URL(request.url ?? '/', url);
    if (pathname === VIDEO) {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(DASHSCOPE_VIDEO);
      return;
    }
    const { status, json } = findKeyFault(request, key) ?? route(request, pathname, body);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  }

  function route(request: IncomingMessage, pathname: string, body: Buffer): Answer {
    const call = `${request.method} ${pathname}`;
    if (call === `POST ${SUBMIT}`) return create(request, body);
    if (request.method === 'GET' && LIST.test(pathname)) return toList(works);
    const [, id, cancels] = TASK.exec(pathname) ?? [];
    const work = works.find((one) => one.id === id);
    if (request.method === 'POST' && cancels !== undefined) return cancel(work);
    if (request.method === 'GET' && id !== undefined && cancels === undefined) return readTask(work, id, url);
    return refuse(404, 'InvalidParameter', 'no such route');
  }

  function create({ headers }: IncomingMessage, raw: Buffer): Answer {
    if (headers['x-dashscope-async'] !== 'enable')
      return refuse(403, 'AccessDenied', 'current user api does not support synchronous calls');
    if (throttlesNext) {
      throttlesNext = false;
      return refuse(429, 'Throttling.RateQuota', 'Requests rate limit exceeded, please try again later.');
    }
    const body = readObject(JSON.parse(raw.toString('utf8')));
    const [input, parameters] = [readObject(body['input']), readObject(body['parameters'])];
    const [model, prompt] = [readText(body['model']) ?? '', readText(input['prompt']) ?? ''];
    if (!MODELS.test(model)) return refuse(404, 'ModelNotFound', 'Model not exist.');
    const fault = findField(input, INPUT) ?? findField(parameters, PARAMETERS) ?? findRule(model, input, parameters);
    if (fault !== undefined) return refuse(400, 'InvalidParameter', `the field ${fault} is wrong`);
    if (prompt.includes(REFUSED_WORDS))
      return refuse(400, 'DataInspectionFailed', 'Input data may contain inappropriate content.');
    const id = `0385dc79-5ff8-4d82-bcb6-${String(works.length).padStart(12, '0')}`;
    works.push({ id, model, prompt, parameters, status: 'PENDING', isHidden: false });
    accepted.push(body);
    return succeed({ output: { task_status: 'PENDING', task_id: id } });
  }

  return {
    url,
    accepted,
    throttleNext: () => {
      throttlesNext = true;
    },
    hideOnce: (taskId) => {
      for (const work of works) if (work.id === taskId) work.isHidden = true;
    },
    close: stop,
  };
}

function refuse(status: number, code: string, message: string): Answer {
  return { status, json: { code, message, request_id: 'req-1' } };
}

function succeed(json: Fields): Answer {
  return { status: 200, json: { request_id: 'req-1', ...json } };
}

function findKeyFault({ headers }: IncomingMessage, key: string): Answer | undefined {
  if (headers.authorization === undefined) return refuse(401, 'InvalidApiKey', 'No API-key provided.');
  return headers.authorization === `Bearer ${key}`
    ? undefined
    : refuse(401, 'InvalidApiKey', 'Invalid API-key provided.');
}

/** Returns a known field with a wrong value. The official Python client sends further fields, which are ignored. */
function findField(fields: Fields, checks: Checks): string | undefined {
  return Object.entries(fields).find(([name, value]) => checks[name]?.(value) === false)?.[0];
}

function findRule(model: string, input: Fields, parameters: Fields): string | undefined {
  const fields = { ...input, ...parameters };
  for (const [pattern, required, foreign] of RULES) {
    if (!pattern.test(model)) continue;
    const fault = required.find((name) => !(name in fields)) ?? foreign.find((name) => name in fields);
    if (fault !== undefined) return fault;
  }
  return undefined;
}

function cancel(work: Work | undefined): Answer {
  if (work?.status !== 'PENDING')
    return refuse(
      400,
      'UnsupportedOperation',
      'Failed to cancel the task, please confirm if the task is in PENDING status.',
    );
  work.status = 'CANCELED';
  return succeed({});
}

/** Every read of a task shows its state and moves it on. */
function readTask(work: Work | undefined, id: string, url: string): Answer {
  if (work === undefined || work.isHidden) {
    if (work !== undefined) work.isHidden = false;
    return succeed({ output: { task_id: id, task_status: 'UNKNOWN' } });
  }
  const { status, prompt, parameters } = work;
  const output = { task_id: id, task_status: status, ...TIMES };
  if (status === 'PENDING' || status === 'RUNNING') {
    work.status = status === 'RUNNING' && prompt.includes(FAILING_WORDS) ? 'FAILED' : NEXT[status];
    return succeed({ output });
  }
  if (status === 'FAILED')
    return succeed({
      output: {
        ...output,
        end_time: END_TIME,
        code: 'DataInspectionFailed',
        message: 'Output data may contain inappropriate content.',
      },
    });
  if (status === 'CANCELED') return succeed({ output: { ...output, end_time: END_TIME } });
  const duration = parameters['duration'] ?? 5;
  return succeed({
    output: { ...output, end_time: END_TIME, orig_prompt: prompt, video_url: `${url}${VIDEO}?Expires=1` },
    usage: { duration, input_video_duration: 0, output_video_duration: duration, video_count: 1, SR: 720 },
  });
}

function toList(works: readonly Work[]): Answer {
  const data = works.map(({ id, model, status }) => ({
    task_id: id,
    model_name: model,
    status,
    gmt_create: 1_745_568_428_109,
  }));
  return succeed({ total: data.length, data, total_page: 1, page_no: 1, page_size: 10 });
}
