import type {
  Adapter,
  Attempt,
  FindOutcome,
  Json,
  PollResult,
  Report,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  CONTENT_REJECTED,
  findModel,
  joinTexts,
  mergeModels,
  parseDataUrl,
  readCount,
  readId,
  readList,
  readObject,
  readReport,
  readText,
  sortMedia,
  toFailure,
  toMicroUsd,
  toNothingFound,
  toSubmission,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, OrderMedia, Reports } from '@reelgate/adapter-kit/kit';
import { findKlingUnfit, KLING_EXTRA, KLING_MODELS, KLING_OPTIONS } from './kling.models.ts';
import type { KlingModel } from './kling.models.ts';

/** The code of an answer says more than its status: an account in arrears is answered with 429, for example. */
const ERRORS: ErrorTable = {
  codes: {
    1000: 'credential',
    1001: 'credential',
    1002: 'credential',
    1003: 'credential',
    1004: 'credential',
    1100: 'credential',
    1101: 'credential',
    1102: 'credential',
    1103: 'credential',
    1200: 'order',
    1201: 'order',
    1202: 'channel',
    1203: 'channel',
    1300: 'content',
    1301: 'content',
    1302: 'throttle',
    1303: 'throttle',
    1304: 'credential',
    5000: 'unknown',
    5001: 'unknown',
    5002: 'unknown',
  },
};

const TASKS = '/tasks';
/** The ratio for `adaptive` where the API must have one. */
const RATIO_OF_ADAPTIVE = '16:9';
/** The API documents no bound. A standard resource pack runs twenty tasks at the same time. */
const POLL_MANY_MAX = 20;
/** No task has this id. The API answers an unknown id with an empty list, so the read shows that the key is good. */
const UNKNOWN_ID = '0';
const VISIBLE_AFTER_MS = 120_000;

/** The words of the reference for a failure of the content. A failure has a free text and no code. */
const RISK_CONTROL = /risk control/i;

const REPORTS: Reports = {
  submitted: (_task, status) => ({ phase: 'queued', status }),
  processing: (_task, status) => ({ phase: 'running', status }),
  succeeded: toSuccessReport,
  // The word of the old API, which gateways keep.
  succeed: toSuccessReport,
  failed: (task, status) => {
    const isOfContent = RISK_CONTROL.test(readText(task['message']) ?? '');
    return toFailure(status, isOfContent ? CONTENT_REJECTED.code : undefined, task['message']);
  },
};

/**
 * The new API of Kling, which has the model in the path and needs an API key (not the old `/v1/videos/…` with its
 * tokens). Sources: kling.ai/document-api (api/video/3-0-omni, 3-0-turbo, o1, 2-6 and 2-5-turbo for bodies and answers;
 * api/get-started/authentication, error-codes, concurrency-rules and callbacks), and what others wrote down of it: an
 * unknown id is answered with an empty list. No client of this API is packaged, so its test sends the curl examples of
 * the reference. Tested against recorded shapes only, not against a live upstream.
 *
 * The key of an attempt is its `external_task_id`, so a lost answer is found exactly. How long the API takes to know an
 * accepted id is not documented: two minutes are assumed. The order is never sent again, so a later arrival would cost
 * this service one video and the client nothing. The list (`POST /tasks`) names
 * neither model nor size and is not read. `multi_shot` is sent as false, because otherwise words such as `shot 1, 2, …;`
 * in a prompt are commands; a reference video needs it true.
 */
export const kling: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  callbacks: { signature: { form: 'standard-webhooks' }, readId: readCallbackId },
  pollManyMax: POLL_MANY_MAX,
  visibleAfterMs: VISIBLE_AFTER_MS,
  extraFields: KLING_EXTRA,
  options: KLING_OPTIONS,
  openCalls: ({ options }) => {
    const models = mergeModels(KLING_MODELS, options);
    return {
      listExtra: ({ model }) => (findModel(models, model)?.sound === true ? Object.keys(KLING_EXTRA) : []),
      buildSubmit: (attempt) => buildSubmit(models, attempt),
      readSubmit: (answer) =>
        toSubmission(answer, {
          upstreamId: readId(readObject(readObject(answer.body)['data'])['id']),
          error: readError(answer.body),
          table: ERRORS,
        }),
      *poll(upstreamId) {
        const answer = yield buildRead('task_ids', [upstreamId]);
        const result = readResult(answer, readTasks(answer), upstreamId);
        return result ?? { found: false, gone: true, error: 'the upstream does not know this task' };
      },
      *pollMany(upstreamIds) {
        const answer = yield buildRead('task_ids', upstreamIds);
        const tasks = readTasks(answer);
        return Object.fromEntries(
          upstreamIds.flatMap((id) => {
            const result = readResult(answer, tasks, id);
            return result === undefined ? [] : [[id, result] as const];
          }),
        );
      },
      *find({ key }) {
        return toFound(yield buildRead('external_task_ids', [key]), key);
      },
      *test() {
        const answer = yield buildRead('task_ids', [UNKNOWN_ID]);
        return readTasks(answer) === undefined
          ? { ok: false, detail: readError(answer.body)?.message ?? `HTTP ${answer.status}` }
          : { ok: true, detail: 'the tasks were read' };
      },
    };
  },
};

function buildRead(name: 'task_ids' | 'external_task_ids', ids: readonly string[]): UpstreamRequest {
  return { method: 'GET', path: `${TASKS}?${name}=${ids.map(encodeURIComponent).join(',')}` };
}

/** The code 0 means success, and a success can have any message. */
function readError(body: unknown): ApiError | undefined {
  const { code, message } = readObject(body);
  const said = readId(code);
  return said === undefined || said === '0' ? undefined : { code: said, message: readText(message) ?? `code ${said}` };
}

/** Returns the tasks of an answer, or undefined if it holds no task and no empty list. */
function readTasks({ status, body }: UpstreamAnswer): readonly Json[] | undefined {
  const { data } = readObject(body);
  return status === 200 && readError(body) === undefined && Array.isArray(data) ? data.map(readObject) : undefined;
}

/** A task that a good answer does not hold is not known to the upstream, and has no result. */
function readResult(answer: UpstreamAnswer, tasks: readonly Json[] | undefined, id: string): PollResult | undefined {
  // A 404 is about the route, not about the task.
  if (tasks === undefined) return toNothingFound(answer, readError(answer.body), false);
  const task = tasks.find((one) => readId(one['id']) === id);
  return task === undefined ? undefined : toPollResult(answer, task);
}

function toPollResult(answer: UpstreamAnswer, task: Json): PollResult {
  return typeof task['status'] === 'string'
    ? { found: true, report: toReport(task, task['status']) }
    : toNothingFound(answer, undefined, false);
}

function toFound(answer: UpstreamAnswer, key: string): FindOutcome {
  const tasks = readTasks(answer);
  if (tasks?.length === 0) return { outcome: 'never arrived' };
  const upstreamId = readId(tasks?.find((one) => one['external_id'] === key)?.['id']);
  return upstreamId === undefined
    ? { outcome: 'cannot know', why: readError(answer.body)?.message ?? `HTTP ${answer.status} without the task` }
    : { outcome: 'accepted', upstreamId };
}

/** The body of a callback equals the body of a read. */
function readCallbackId(body: Json): string | undefined {
  const [task = body['data']] = readList(body['data']);
  return readId(readObject(task)['id']);
}

function buildSubmit(
  models: Readonly<Record<string, KlingModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { key, model: id, content, callbackUrl } = attempt;
  const model = findModel(models, id);
  if (model === undefined) return { unfit: `the model ${id} is unknown to this adapter` };
  const media = sortMedia(content);
  const unfit =
    findKlingUnfit(model, attempt) ??
    (media.videos.some((url) => parseDataUrl(url) !== undefined) ? 'takes videos by URL only' : undefined);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  const product =
    model.route === 'omni' ? 'omni-video' : media.first === undefined ? 'text-to-video' : 'image-to-video';
  const prompt = joinTexts(content);
  const json = {
    ...(product === 'text-to-video' ? { prompt } : { contents: [...toPromptItems(prompt), ...toMediaItems(media)] }),
    settings: toSettings(model, attempt, media),
    options: { external_task_id: key, callback_url: callbackUrl },
  };
  return { method: 'POST', path: `/${product}/${encodeURIComponent(id)}`, json };
}

function toSettings(
  model: KlingModel,
  { duration, resolution, ratio, extra = {} }: Attempt,
  media: OrderMedia,
): object {
  const hasVideo = media.videos.length > 0;
  const concrete = ratio === 'adaptive' ? undefined : ratio;
  return {
    resolution: resolution?.toLowerCase(),
    // A frame decides the ratio, and a reference video does if the order does not.
    aspect_ratio: media.first === undefined ? (concrete ?? (hasVideo ? undefined : RATIO_OF_ADAPTIVE)) : undefined,
    duration,
    ...toAudio(extra),
    multi_shot: model.multiShot === true ? hasVideo : undefined,
  };
}

/** The upstream leaves them out by default. */
function toAudio({ sound, generate_audio: isMade }: NonNullable<Attempt['extra']>): object {
  if (sound === undefined && isMade === undefined) return {};
  return { audio: sound === 'on' || (sound === undefined && isMade === true) ? 'native' : 'off' };
}

function toPromptItems(text: string): readonly object[] {
  return text === '' ? [] : [{ type: 'prompt', text }];
}

/** References have ids for the prompt: `@image_1` is the first image. */
function toMediaItems({ first, last, images, videos }: OrderMedia): readonly object[] {
  return [
    ...(first === undefined ? [] : [{ type: 'first_frame', url: toImage(first) }]),
    ...(last === undefined ? [] : [{ type: 'last_frame', url: toImage(last) }]),
    ...images.map((url, index) => ({ type: 'refer_image', url: toImage(url), id: `image_${index + 1}` })),
    ...videos.map((url, index) => ({ type: 'feature_video', url, id: `video_${index + 1}` })),
  ];
}

/** The API takes an image inside the request as bare Base64. */
function toImage(url: string): string {
  return parseDataUrl(url)?.base64 ?? url;
}

function toSuccessReport(task: Json, status: string): Report {
  const video = readList(task['outputs'])
    .map(readObject)
    .find(({ type }) => type === 'video');
  return {
    phase: 'succeeded',
    status,
    url: readText(video?.['url']),
    usage: toUsage({ outputSeconds: readWholeSeconds(video?.['duration']) }),
    costMicroUsd: readCost(task['billing']),
  };
}

/** The report of a task. Its last change is its end if it has ended. */
function toReport(task: Json, status: string): Report {
  return withEndTime(readReport(REPORTS, task, status), readCount(task['update_time']));
}

/** The API writes seconds as a text. */
function readWholeSeconds(text: unknown): number | undefined {
  return readCount(typeof text === 'string' && /^\d{1,6}(\.0+)?$/.test(text) ? Number(text) : text);
}

/** A charge is in units of a resource pack, which have no price here, or in cash of one of two currencies. */
function readCost(billing: unknown): number | undefined {
  const amounts = readList(billing)
    .map(readObject)
    .map(({ currency, amount }) => (currency === 'USD' ? toMicroUsd(amount) : undefined));
  return amounts.length === 0
    ? undefined
    : amounts.reduce((sum, one) => (sum === undefined || one === undefined ? undefined : sum + one), 0);
}
