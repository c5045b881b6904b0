import type {
  Adapter,
  Attempt,
  AttemptMedia,
  ExtraFields,
  ExtraValue,
  Json,
  PollResult,
  Report,
  UpstreamAnswer,
  UpstreamRequest,
  Usage,
} from '@reelgate/adapter-kit';
import {
  CONTENT_REJECTED,
  isSuccess,
  listMedia,
  mergeModels,
  readCount,
  readId,
  readIsoTime,
  readObject,
  readReport,
  readText,
  sortMedia,
  toFailure,
  toNothingFound,
  toPrompt,
  toSubmission,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, OrderMedia, Reports } from '@reelgate/adapter-kit/kit';
import {
  DASHSCOPE_MODELS,
  DASHSCOPE_OPTIONS,
  findDashscopeModel,
  findDashscopeUnfit,
  PIXELS,
} from './dashscope.models.ts';
import type { DashscopeModel } from './dashscope.models.ts';

const SUBMIT = '/api/v1/services/aigc/video-generation/video-synthesis';
const TASKS = '/api/v1/tasks';
/** Without this header the API answers that it takes no synchronous calls. */
const ASYNC = { 'x-dashscope-async': 'enable' };
/** The word for an id that the API does not know: a wrong one, or one that is older than a day. */
const NOT_KNOWN = 'UNKNOWN';
/** Twenty in a second for an account. */
const POLLS_PER_MINUTE = 1200;
/** The ratio for `adaptive` where a model does not choose it itself. */
const RATIO_OF_ADAPTIVE = '16:9';

/** Each is sent to the models with a row that names it. */
const EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: 2 ** 31 - 1 },
  prompt_extend: { type: 'flag' },
  negative_prompt: { type: 'text', charactersMax: 500 },
};

const CONTENT = { DataInspectionFailed: 'content', IPInfringementSuspect: 'content' } as const;

/**
 * The code of an error says more than its status: a bill that is overdue is answered with 429, and an account in arrears
 * with 400. The reference does not say whether an error from status 500 on comes before acceptance.
 */
const DASHSCOPE_ERRORS: ErrorTable = {
  codes: {
    ...CONTENT,
    InvalidApiKey: 'credential',
    Arrearage: 'credential',
    PrepaidBillOverdue: 'credential',
    PostpaidBillOverdue: 'credential',
    CommodityNotPurchased: 'credential',
    'AllocationQuota.FreeTierOnly': 'credential',
    ModelNotFound: 'channel',
    LimitRequests: 'throttle',
  },
  patterns: [
    [/(^|\.)AccessDenied$/, 'credential'],
    [/^Throttling(\.|$)/, 'throttle'],
    [/^(InvalidParameter|BadRequest)/, 'order'],
    [/^InternalError/, 'unknown'],
    // A media file that the upstream cannot read.
    [/url error, please check url/i, 'order', 'message'],
  ],
  statuses: { 503: 'unknown' },
};

/** A result is kept for a day. */
const RESULT_LIVES_MS = 24 * 60 * 60 * 1000;

const REPORTS: Reports = {
  PENDING: (_output, status) => ({ phase: 'queued', status }),
  SUSPENDED: (_output, status) => ({ phase: 'queued', status }),
  RUNNING: (_output, status) => ({ phase: 'running', status }),
  SUCCEEDED: (output, status) => {
    const endedAt = readEndTime(output);
    return {
      phase: 'succeeded',
      status,
      url: readText(output['video_url']),
      urlDiesAt: endedAt === undefined ? undefined : endedAt + RESULT_LIVES_MS,
    };
  },
  FAILED: (output, status) => {
    const code = readText(output['code']) ?? 'failed';
    return toFailure(status, Object.hasOwn(CONTENT, code) ? CONTENT_REJECTED.code : code, output['message']);
  },
  CANCELED: (_output, status) => toFailure(status, 'cancelled', undefined),
};

/**
 * The video synthesis of DashScope (Alibaba Cloud Model Studio): Wan and HappyHorse. Sources: alibabacloud.com/help/en/
 * model-studio (manage-asynchronous-tasks, async-task-api, text-to-video, image-to-video-general, wan-video-to-video
 * and wan3-video-generation references), help.aliyun.com/en/model-studio/error-code, the client npm @ai-sdk/alibaba
 * 2.0.58, PyPI dashscope 2.0.2 and PyPI litellm 1.109.1. The bounds of Wan 2.5 and 2.6, of Wan 2.7 from references and
 * of HappyHorse come from one source each. Tested against recorded shapes and the client only, not against a live
 * upstream.
 *
 * There is no search for a lost answer. The API takes no id of its caller. Its list names the model and the time, and
 * neither the size nor the length, and the prompt is shown with finished work only: no search in it would be exact.
 * The account tells one address of the ends of its tasks (EventBridge), which is not a callback of an attempt.
 *
 * A task can be `UNKNOWN` for a while after a worker of the upstream died. The adapter says that the upstream does not
 * know it; the service ends no task for that, but asks a person when it does not change.
 */
export const dashscope: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: EXTRA,
  pollsPerMinute: POLLS_PER_MINUTE,
  options: DASHSCOPE_OPTIONS,
  openCalls: ({ options }) => {
    const models = mergeModels(DASHSCOPE_MODELS, options);
    return {
      listExtra: ({ model }) => findDashscopeModel(models, model)?.extra ?? [],
      buildSubmit: (attempt) => buildSubmit(models, attempt),
      readSubmit: (answer) =>
        toSubmission(answer, {
          upstreamId: readId(readObject(readObject(answer.body)['output'])['task_id']),
          error: readError(answer.body),
          table: DASHSCOPE_ERRORS,
        }),
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: buildTaskPath(upstreamId) });
      },
      // The API cancels pending tasks only, and refuses all others.
      *cancel(upstreamId) {
        const { status, body } = yield { method: 'POST', path: `${buildTaskPath(upstreamId)}/cancel` };
        const isConfirmed = readId(readObject(body)['request_id']) !== undefined;
        return isSuccess(status) && readError(body) === undefined && isConfirmed;
      },
      *test() {
        const { status, body } = yield { method: 'GET', path: `${TASKS}/?page_no=1&page_size=1` };
        return status === 200 && readError(body) === undefined && Array.isArray(readObject(body)['data'])
          ? { ok: true, detail: 'the list was read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

/** A code at the top is an error at any status. The code of failed work is inside its output. */
function readError(body: unknown): ApiError | undefined {
  const { code, message } = readObject(body);
  const said = readText(code);
  return said === undefined ? undefined : { code: said, message: readText(message) ?? said };
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const body = readObject(answer.body);
  const output = readObject(body['output']);
  const status = readText(output['task_status']);
  const error = readError(body);
  // A 404 is about the route, not about the task.
  if (answer.status !== 200 || error !== undefined || status === undefined) return toNothingFound(answer, error, false);
  return status === NOT_KNOWN
    ? { found: false, gone: true, error: 'the upstream does not know this task' }
    : { found: true, report: toReport(body, output, status) };
}

function buildSubmit(
  models: Readonly<Record<string, DashscopeModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model: id, content, duration, resolution = '', ratio = '' } = attempt;
  const model = findDashscopeModel(models, id);
  if (model === undefined) return { unfit: `the model ${id} is unknown to this adapter` };
  const media = listMedia(content);
  const unfit = findDashscopeUnfit(model, attempt);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  const size = toSizeFields(model, attempt);
  if (size === undefined) return { unfit: `the model ${id} makes no ${resolution} at ${ratio}` };
  const { negative_prompt: negativePrompt, ...extra } = selectExtra(model, attempt.extra);
  const json = {
    model: id,
    input: {
      prompt: toPrompt(content),
      negative_prompt: negativePrompt,
      ...(media.length > 0 && toMediaField(model, media)),
    },
    // HappyHorse marks a video by default.
    parameters: { ...size, duration, ...extra, watermark: false },
  };
  return { method: 'POST', path: SUBMIT, headers: ASYNC, json };
}

function selectExtra({ extra: names = [] }: DashscopeModel, extra: Attempt['extra'] = {}): Record<string, ExtraValue> {
  const sent: Record<string, ExtraValue> = {};
  for (const name of names) if (extra[name] !== undefined) sent[name] = extra[name];
  return sent;
}

/** The size in the form of the model; undefined if the pixels of the order are unknown. */
function toSizeFields(
  { size, ratios = [] }: DashscopeModel,
  { resolution, ratio, content }: Attempt,
): Json | undefined {
  const tier = resolution?.toUpperCase();
  const chosen = ratio === 'adaptive' && !ratios.includes(ratio) ? RATIO_OF_ADAPTIVE : ratio;
  if (size === 'pixels') {
    const pixels = PIXELS[tier ?? '']?.[chosen ?? RATIO_OF_ADAPTIVE];
    return pixels === undefined ? undefined : { size: pixels };
  }
  const leavesRatio = size === 'resolution' || (chosen !== ratio && sortMedia(content).first !== undefined);
  return { resolution: tier, ratio: leavesRatio ? undefined : chosen };
}

function toMediaField({ media: field }: DashscopeModel, media: readonly AttemptMedia[]): Json {
  if (field === 'img_url') return { img_url: sortMedia(media).first };
  // A prompt names them by their place, as character1, character2.
  if (field === 'reference_urls') return { reference_urls: media.map(({ url }) => url) };
  const items = toMediaItems(sortMedia(media));
  return items.length === 0 ? {} : { media: items };
}

/** A prompt names references by their kind and their place in it, as Image 1, Video 1. */
function toMediaItems({ first, last, images, videos, audios }: OrderMedia): readonly object[] {
  const toItems = (type: string, urls: readonly (string | undefined)[]): readonly object[] =>
    urls.flatMap((url) => (url === undefined ? [] : [{ type, url }]));
  return [
    ...toItems('first_frame', [first]),
    ...toItems('last_frame', [last]),
    ...toItems('reference_image', images),
    ...toItems('reference_video', videos),
    ...toItems('reference_audio', audios),
  ];
}

function toReport(body: Json, output: Json, status: string): Report {
  const report = withEndTime(readReport(REPORTS, output, status), readEndTime(output));
  return report.phase === 'succeeded' ? { ...report, usage: readUsage(body['usage']) } : report;
}

/** The API bills the seconds of the input and of the output. */
function readUsage(value: unknown): Usage | undefined {
  const usage = readObject(value);
  return toUsage({
    totalSeconds: readCount(usage['duration']),
    inputSeconds: readCount(usage['input_video_duration']),
    outputSeconds: readCount(usage['output_video_duration']),
  });
}

/** Times are texts such as `2026-04-13 10:45:47.597`, without an offset, of the zone UTC+8. */
function readEndTime({ end_time: time }: Json): number | undefined {
  return typeof time === 'string' && /^[\d-]{10} [\d:.]{8,12}$/.test(time)
    ? readIsoTime(`${time.replace(' ', 'T')}+08:00`)
    : undefined;
}
