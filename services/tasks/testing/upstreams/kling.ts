import type { IncomingMessage, ServerResponse } from 'node:http';
import { readText } from '@reelgate/adapter-kit/kit';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** A loopback server that answers as the new API of Kling does. */
export interface FakeKling {
  readonly url: string;
  /** The accepted bodies, with the path of each. */
  readonly accepted: readonly { readonly path: string; readonly body: Fields }[];
  /** Accepts the next create and closes its connection without an answer. */
  loseNextAnswer(): void;
  close(): Promise<void>;
}

type Fields = Readonly<Record<string, unknown>>;
type Refusal = readonly [status: number, code: number, message: string];

interface Work {
  readonly id: string;
  readonly externalId: string;
  readonly prompt: string;
  readonly duration: unknown;
  reads: number;
}

export const KLING_VIDEO = Buffer.from('a video of the fake Kling');
/** Prompts with these words are refused, and fail. */
export const REFUSED_WORDS = 'forbidden words';
export const FAILING_WORDS = 'failing words';
const RISK = 'Failure to pass the risk control system';
const STARTED_AT = 1_781_080_778_802;
const RUNNING_MAX = 3;

const MODELS: Readonly<Record<string, readonly string[]>> = {
  'text-to-video': ['kling-3.0', 'kling-3.0-turbo', 'kling-2.6', 'kling-2.5-turbo'],
  'image-to-video': ['kling-3.0', 'kling-3.0-turbo', 'kling-2.6', 'kling-2.5-turbo'],
  'omni-video': ['kling-3.0-omni', 'kling-o1'],
};
const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  'image-to-video': ['prompt', 'first_frame', 'last_frame'],
  'omni-video': ['prompt', 'first_frame', 'last_frame', 'refer_image', 'feature_video'],
};
const isText = (value: unknown): boolean => typeof value === 'string' && value !== '';
const isOneOf =
  (...values: readonly string[]) =>
  (value: unknown): boolean =>
    values.includes(value as string);
const SETTINGS: Readonly<Record<string, (value: unknown) => boolean>> = {
  resolution: isOneOf('720p', '1080p', '4k'),
  aspect_ratio: isOneOf('16:9', '9:16', '1:1'),
  duration: (value) => Number.isInteger(value) && Number(value) >= 3 && Number(value) <= 15,
  audio: isOneOf('native', 'original', 'off'),
  multi_shot: (value) => typeof value === 'boolean',
};
const OPTIONS: Readonly<Record<string, (value: unknown) => boolean>> = {
  // The examples of the reference send an empty one.
  external_task_id: (value) => typeof value === 'string',
  callback_url: isText,
  watermark_info: (value) => typeof readFields(value)['enabled'] === 'boolean',
};

export async function openFakeKling(key: string): Promise<FakeKling> {
  const works: Work[] = [];
  const accepted: { path: string; body: Fields }[] = [];
  let losesNext = false;

  const create = (path: string, body: Fields): Fields => {
    const options = readFields(body['options']);
    const settings = readFields(body['settings']);
    const externalId = readText(options['external_task_id']) ?? '';
    const work = toWork(works.length, externalId, body, settings['duration']);
    works.push(work);
    accepted.push({ path, body });
    return {
      id: work.id,
      status: 'submitted',
      create_time: STARTED_AT,
      update_time: STARTED_AT,
      external_id: externalId,
    };
  };

  const { url, stop } = await startTestServer((request, response) => {
    void handle(request, response);
  });

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readWhole(request);
    const { pathname, searchParams } = new URL(request.url ?? '/', url);
    if (pathname === '/files/video.mp4') {
      response.writeHead(200, { 'content-type': 'video/mp4' }).end(KLING_VIDEO);
      return;
    }
    const outcome = findKeyFault(request, key) ?? route(request, pathname, { searchParams, body });
    if (losesNext && !Array.isArray(outcome) && request.method === 'POST') {
      losesNext = false;
      response.socket?.resetAndDestroy();
      return;
    }
    answer(response, outcome);
  }

  function route(
    request: IncomingMessage,
    pathname: string,
    { searchParams, body }: { readonly searchParams: URLSearchParams; readonly body: Buffer },
  ): Refusal | { readonly data: unknown } {
    if (request.method === 'GET' && pathname === '/tasks') return readTasks(works, searchParams, url);
    const [, product = '', model = ''] = pathname.split('/');
    const models = Object.hasOwn(MODELS, product) ? MODELS[product] : undefined;
    if (request.method !== 'POST' || models === undefined) return [404, 1202, 'The requested method is invalid'];
    if (!models.includes(model)) return [404, 1203, 'The requested resource does not exist'];
    const fields = parseFields(request, body);
    const fault = fields === undefined ? 'no JSON' : findBodyFault(product, fields, works);
    if (fields === undefined || fault !== undefined) return [400, 1201, `Invalid parameters: ${fault}`];
    if (readPrompt(fields).includes(REFUSED_WORDS)) return [400, 1301, 'the content violates the policy'];
    if (works.filter(({ reads }) => reads < 2).length >= RUNNING_MAX)
      return [429, 1303, 'parallel task over resource pack limit'];
    return { data: create(pathname, fields) };
  }

  return {
    url,
    accepted,
    loseNextAnswer: () => {
      losesNext = true;
    },
    close: stop,
  };
}

function answer(response: ServerResponse, outcome: Refusal | { readonly data: unknown }): void {
  const [status, body] =
    'data' in outcome
      ? [200, { code: 0, message: 'SUCCEED', request_id: 'req-1', data: outcome.data }]
      : [outcome[0], { code: outcome[1], message: outcome[2], request_id: 'req-1' }];
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

function findKeyFault({ headers }: IncomingMessage, key: string): Refusal | undefined {
  if (headers.authorization === undefined) return [401, 1001, 'Authorization is empty'];
  return headers.authorization === `Bearer ${key}` ? undefined : [401, 1002, 'api key not found'];
}

function parseFields({ headers }: IncomingMessage, body: Buffer): Fields | undefined {
  if (headers['content-type']?.startsWith('application/json') !== true) return undefined;
  try {
    return readFields(JSON.parse(body.toString('utf8')));
  } catch {
    return undefined;
  }
}

function readFields(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

function listContents(body: Fields): readonly Fields[] {
  return Array.isArray(body['contents']) ? body['contents'].map(readFields) : [];
}

function readPrompt(body: Fields): string {
  const item = listContents(body).find(({ type }) => type === 'prompt');
  return readText(body['prompt'] ?? item?.['text']) ?? '';
}

/** Returns what the API does not take in a body; undefined if it takes all. */
function findBodyFault(product: string, body: Fields, works: readonly Work[]): string | undefined {
  const settings = readFields(body['settings']);
  const options = readFields(body['options']);
  const input = product === 'text-to-video' ? 'prompt' : 'contents';
  const externalId = options['external_task_id'];
  return (
    Object.keys(body).find((name) => ![input, 'settings', 'options'].includes(name)) ??
    findField(settings, SETTINGS) ??
    findField(options, OPTIONS) ??
    (product === 'text-to-video' ? findPromptFault(body) : findContentsFault(product, body, settings)) ??
    (isText(externalId) && works.some((work) => work.externalId === externalId) ? 'external_task_id' : undefined)
  );
}

function findField(fields: Fields, checks: Readonly<Record<string, (value: unknown) => boolean>>): string | undefined {
  return Object.entries(fields).find(([name, value]) => checks[name]?.(value) !== true)?.[0];
}

function findPromptFault(body: Fields): string | undefined {
  return isText(body['prompt']) && [...String(body['prompt'])].length <= 3072 ? undefined : 'prompt';
}

function findContentsFault(product: string, body: Fields, settings: Fields): string | undefined {
  const contents = listContents(body);
  const count = (type: string): number => contents.filter((item) => item['type'] === type).length;
  const [frames, videos] = [count('first_frame'), count('feature_video')];
  const wrong = contents.find(
    ({ type, text, url }) =>
      CONTENTS[product]?.includes(String(type)) !== true || !isText(type === 'prompt' ? text : url),
  );
  if (contents.length === 0 || wrong !== undefined) return 'contents';
  if (count('last_frame') > frames || frames > 1 || videos > 1) return 'contents';
  if (count('refer_image') > (videos === 0 ? 7 : 4)) return 'refer_image';
  if (product === 'image-to-video') return frames === 1 ? findUnknownRatio(settings) : 'first_frame';
  if (frames + videos === 0 && settings['aspect_ratio'] === undefined) return 'aspect_ratio';
  return videos === 1 && settings['multi_shot'] === false ? 'multi_shot' : undefined;
}

function findUnknownRatio(settings: Fields): string | undefined {
  return settings['aspect_ratio'] === undefined ? undefined : 'aspect_ratio';
}

function toWork(index: number, externalId: string, body: Fields, duration: unknown): Work {
  return {
    id: `89360594640281198${index}`,
    externalId,
    prompt: readPrompt(body),
    duration: duration ?? 5,
    reads: 0,
  };
}

/** Every read of a task moves it on: submitted, processing, then its end. */
function readTasks(
  works: readonly Work[],
  searchParams: URLSearchParams,
  url: string,
): Refusal | { readonly data: unknown } {
  const [ids, externalIds] = [searchParams.get('task_ids'), searchParams.get('external_task_ids')];
  if ((ids === null) === (externalIds === null)) return [400, 1200, 'Invalid request parameters'];
  const asked = (ids ?? externalIds ?? '').split(',');
  const found = works.filter((work) => asked.includes(ids === null ? work.externalId : work.id));
  return { data: found.map((work) => readTask(work, url)) };
}

function readTask(work: Work, url: string): Fields {
  const { id, externalId, duration, prompt } = work;
  const reads = work.reads++;
  const task = { id, create_time: STARTED_AT, update_time: STARTED_AT + reads * 1000, external_id: externalId };
  if (reads < 2) return { ...task, status: reads === 0 ? 'submitted' : 'processing' };
  if (prompt.includes(FAILING_WORDS)) return { ...task, status: 'failed', message: RISK };
  return {
    ...task,
    status: 'succeeded',
    outputs: [
      { type: 'video', id: `${id}-1`, url: `${url}/files/video.mp4`, watermark_url: '', duration: String(duration) },
    ],
    billing: [{ charge_type: 'unit', package_type: 'video', amount: '3' }],
  };
}
