import type { IncomingMessage, ServerResponse } from 'node:http';
import { readList, readObject, readText } from '@reelgate/adapter-kit/kit';
import type { Json } from '@reelgate/adapter-kit';
import { readWhole, startTestServer } from '@reelgate/platform/testing/test-server';

/** The video that every work ends with. */
export const GEMINI_VIDEO = 'the bytes of a video';
/** Prompts that the upstream refuses at once, and after it has worked. */
export const UNSAFE_PROMPT = 'an unsafe fox';
export const UNSAFE_VIDEO_PROMPT = 'a fox that turns out unsafe';

/** The Gemini API in memory: interactions and operations that move on at each poll. */
export interface FakeGemini {
  readonly url: string;
  /** `host:port` of the URL. */
  readonly host: string;
  /** Method and path of every request, in order. */
  readonly requests: readonly string[];
  close(): Promise<void>;
}

export interface FakeGeminiOptions {
  /** The video that every work ends with. Default: `GEMINI_VIDEO`. */
  readonly video?: Buffer;
  /** True if each interaction holds the bytes of its video, whatever delivery was ordered. */
  readonly isAlwaysInline?: boolean;
}

interface Reply {
  readonly status: number;
  readonly json?: unknown;
  readonly bytes?: Buffer;
  readonly location?: string;
}
interface Work {
  readonly prompt: string;
  readonly isInline: boolean;
  polls: number;
  isCancelled: boolean;
}
interface World {
  readonly url: string;
  readonly key: string;
  readonly works: Map<string, Work>;
  readonly video: Buffer;
  readonly isAlwaysInline: boolean;
}
/** `id`: the part of the path that the pattern names. */
type Handler = (world: World, id: string, body: Json) => Reply;

const ROUTES: readonly (readonly [string, RegExp, Handler])[] = [
  ['GET', /^\/v1beta\/models$/, () => ({ status: 200, json: { models: [{ name: 'models/gemini-omni-1.1-flash' }] } })],
  ['POST', /^\/v1(?:beta)?\/interactions$/, createInteraction],
  ['GET', /^\/v1(?:beta)?\/interactions\/([^/]+)$/, readInteraction],
  ['POST', /^\/v1(?:beta)?\/interactions\/([^/]+)\/cancel$/, cancelInteraction],
  ['POST', /^\/v1beta\/models\/([^/]+):predictLongRunning$/, startOperation],
  ['GET', /^\/v1beta\/(models\/[^/]+\/operations\/[^/]+)$/, readOperation],
  [
    'GET',
    /^\/v1beta\/files\/([^/]+):download$/,
    (world, id) => ({ status: 302, location: `${world.url}/bytes/${id}` }),
  ],
];
const BYTES = /^\/bytes\//;

export async function openFakeGemini(
  key: string,
  { video = Buffer.from(GEMINI_VIDEO), isAlwaysInline = false }: FakeGeminiOptions = {},
): Promise<FakeGemini> {
  const requests: string[] = [];
  const works = new Map<string, Work>();
  const { url, stop } = await startTestServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    void readWhole(request).then((body) => {
      send(response, answer({ url, key, works, video, isAlwaysInline }, request, body.toString('utf8')));
    });
  });
  return { url, host: new URL(url).host, requests, close: stop };
}

function send(response: ServerResponse, { status, json, bytes, location }: Reply): void {
  const type = bytes === undefined ? 'application/json' : 'video/mp4';
  response
    .writeHead(status, { 'content-type': type, ...(location === undefined ? {} : { location }) })
    .end(bytes ?? JSON.stringify(json ?? {}));
}

function answer(world: World, { method, url = '', headers }: IncomingMessage, text: string): Reply {
  const { pathname, searchParams } = new URL(url, world.url);
  // What a download is redirected to takes no key.
  if (BYTES.test(pathname)) return { status: headers['x-goog-api-key'] === undefined ? 200 : 400, bytes: world.video };
  if ((headers['x-goog-api-key'] ?? searchParams.get('key')) !== world.key)
    return pathname.includes('/files/') ? refuseByStatus(403, 'PERMISSION_DENIED', 'No access') : refuseKey();
  if (method === 'POST' && text !== '' && headers['content-type'] !== 'application/json')
    return refuseByStatus(400, 'INVALID_ARGUMENT', 'The body is not JSON');
  for (const [verb, pattern, handle] of ROUTES) {
    const found = verb === method ? pattern.exec(pathname) : null;
    if (found !== null) return handle(world, decodeURIComponent(found[1] ?? ''), readObject(JSON.parse(text || '{}')));
  }
  return refuseByStatus(404, 'NOT_FOUND', `${method} ${pathname} does not exist`);
}

/** The front end answers a bad key with 400, in a list. */
function refuseKey(): Reply {
  const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }];
  const error = { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT', details };
  return { status: 400, json: [{ error }] };
}

function refuseByStatus(status: number, word: string, message: string): Reply {
  return { status, json: { error: { code: status, message, status: word } } };
}

function refuseByCode(code: string, message: string, status = 400): Reply {
  return { status, json: { error: { code, message } } };
}

const INTERACTION_FIELDS = ['model', 'input', 'background', 'response_format', 'generation_config', 'stream'];
const FORMAT_FIELDS = ['type', 'delivery', 'aspect_ratio', 'resolution', 'duration'];
const TASKS = ['text_to_video', 'image_to_video', 'reference_to_video', 'edit', 'extend', 'upscale', undefined];

function createInteraction(world: World, _id: string, body: Json): Reply {
  const { works } = world;
  const contents = readContents(body['input']);
  const format = readObject(readList(body['response_format'])[0] ?? body['response_format']);
  const config = readObject(readObject(body['generation_config'])['video_config']);
  if (body['model'] !== 'gemini-omni-1.1-flash')
    return refuseByCode('model_not_found', 'The specified model was not found', 404);
  const unknown =
    findUnknown(body, INTERACTION_FIELDS) ?? findUnknown(format, FORMAT_FIELDS) ?? findUnknown(config, ['task']);
  if (unknown !== undefined) return refuseByCode('parameter_unknown', `The parameter '${unknown}' is unknown`);
  const wrong = findWrongField(contents, format, config);
  if (wrong !== undefined) return refuseByCode('invalid_request', `The value of '${wrong}' is not supported`);
  const prompt = readPrompt(contents);
  if (prompt === UNSAFE_PROMPT) return refuseByCode('safety', 'The request was refused');
  const id = `v1_${works.size + 1}`;
  const isBlocking = body['background'] !== true;
  const isInline = world.isAlwaysInline || format['delivery'] === 'inline';
  works.set(id, { prompt, isInline, polls: isBlocking ? 2 : 0, isCancelled: false });
  return isBlocking
    ? { status: 200, json: toInteraction(world, id, works.get(id)!) }
    : { status: 200, json: { id, object: 'interaction', status: 'in_progress' } };
}

function findUnknown(fields: Json, known: readonly string[]): string | undefined {
  return Object.keys(fields).find((field) => !known.includes(field));
}

/** The contents of an input: as they are, or as the steps in which the clients of Google put them. */
function readContents(input: unknown): readonly Json[] {
  return readList(input)
    .map(readObject)
    .flatMap((item) => (item['type'] === 'user_input' ? readList(item['content']).map(readObject) : [item]));
}

function readPrompt(contents: readonly Json[]): string {
  return readText(contents.find(({ type }) => type === 'text')?.['text']) ?? '';
}

function findWrongField(contents: readonly Json[], format: Json, config: Json): string | undefined {
  const { duration = '5s' } = format;
  const isDuration = typeof duration === 'string' && /^([3-9]|10)s$/.test(duration);
  const checks: readonly (readonly [string, boolean])[] = [
    ['input', contents.length > 0 && contents.every(isContent)],
    ['type', format['type'] === 'video'],
    ['delivery', format['delivery'] === 'uri' || format['delivery'] === 'inline'],
    ['duration', isDuration],
    ['aspect_ratio', [undefined, '16:9', '9:16'].includes(format['aspect_ratio'] as string | undefined)],
    ['resolution', [undefined, '360p', '720p', '1080p', '4k'].includes(format['resolution'] as string | undefined)],
    ['task', TASKS.includes(config['task'] as string | undefined)],
  ];
  return checks.find(([, isRight]) => !isRight)?.[0];
}

function isContent({ type, text, data, uri, mime_type: mimeType }: Json): boolean {
  if (type === 'text') return readText(text) !== undefined;
  const isFile = readText(data) !== undefined && readText(mimeType) !== undefined;
  return (type === 'image' || type === 'video') && (isFile || (type === 'image' && readText(uri) !== undefined));
}

function readInteraction(world: World, id: string): Reply {
  const work = world.works.get(id);
  if (work === undefined) return refuseByCode('invalid_request', 'Invalid interaction name');
  const json = toInteraction(world, id, work);
  work.polls += 1;
  return { status: 200, json };
}

function cancelInteraction(world: World, id: string): Reply {
  const work = world.works.get(id);
  if (work === undefined) return refuseByCode('invalid_request', 'Invalid interaction name');
  work.isCancelled ||= work.polls < 2;
  return { status: 200, json: toInteraction(world, id, work) };
}

function toInteraction({ url, video }: World, id: string, { polls, prompt, isCancelled, isInline }: Work): object {
  const base = { id, object: 'interaction', model: 'gemini-omni-1.1-flash', updated: '2026-11-24T10:01:05Z' };
  if (isCancelled) return { ...base, status: 'cancelled' };
  if (polls < 2) return { ...base, status: polls === 0 ? 'queued' : 'in_progress' };
  const isRefused = prompt === UNSAFE_VIDEO_PROMPT;
  const content = isRefused
    ? { type: 'text', text: 'I cannot make this video.' }
    : {
        type: 'video',
        mime_type: 'video/mp4',
        ...(isInline ? { data: video.toString('base64') } : { uri: `${url}/v1beta/files/${id}:download?alt=media` }),
      };
  const tokens = { modality: isRefused ? 'text' : 'video', tokens: 28_960 };
  return {
    ...base,
    status: 'completed',
    steps: [{ type: 'model_output', content: [content] }],
    usage: { total_output_tokens: 28_960, output_tokens_by_modality: [tokens] },
  };
}

const PARAMETERS = ['sampleCount', 'aspectRatio', 'resolution', 'durationSeconds', 'negativePrompt', 'seed'];

function startOperation({ works }: World, model: string, { instances, parameters }: Json): Reply {
  if (!model.startsWith('veo-3.1-'))
    return refuseByStatus(404, 'NOT_FOUND', `This model models/${model} is no longer available.`);
  const instance = readObject(readList(instances)[0]);
  const settings = readObject(parameters);
  const images = [
    instance['image'],
    instance['lastFrame'],
    ...readList(instance['referenceImages']).map((one) => readObject(one)['image']),
  ].filter((image) => image !== undefined);
  const isRight =
    findUnknown(instance, ['prompt', 'image', 'lastFrame', 'referenceImages']) === undefined &&
    findUnknown(settings, PARAMETERS) === undefined &&
    [4, 6, 8, undefined].includes(settings['durationSeconds'] as number | undefined) &&
    images.every((image) => readText(readObject(image)['bytesBase64Encoded']) !== undefined);
  if (!isRight) return refuseByStatus(400, 'INVALID_ARGUMENT', 'The request is not supported by this model');
  const name = `models/${model}/operations/op${works.size + 1}`;
  works.set(name, { prompt: readText(instance['prompt']) ?? '', isInline: false, polls: 0, isCancelled: false });
  return { status: 200, json: { name } };
}

function readOperation({ url, works }: World, name: string): Reply {
  const work = works.get(name);
  if (work === undefined) return refuseByStatus(404, 'NOT_FOUND', 'The operation does not exist');
  work.polls += 1;
  if (work.polls < 2) return { status: 200, json: { name } };
  if (work.prompt === UNSAFE_PROMPT)
    return { status: 200, json: { name, done: true, error: { code: 3, message: 'The prompt violates the policy' } } };
  const made =
    work.prompt === UNSAFE_VIDEO_PROMPT
      ? { raiMediaFilteredCount: 1, raiMediaFilteredReasons: ['The video was filtered'] }
      : { generatedSamples: [{ video: { uri: `${url}/v1beta/files/op:download?alt=media` } }] };
  return { status: 200, json: { name, done: true, response: { generateVideoResponse: made } } };
}
