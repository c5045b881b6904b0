import type {
  Adapter,
  Attempt,
  AttemptItem,
  Json,
  Kind,
  ListedWork,
  MediaKind,
  PollResult,
  Report,
  Submission,
  UpstreamAnswer,
} from '@reelgate/adapter-kit';
import {
  listPages,
  readCount,
  readId,
  readObject,
  readReport,
  readSecondsAsMs,
  readText,
  toFailure,
  toFields,
  toNothingFound,
  toSubmission,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { readUsage } from '@reelgate/adapter-kit/v2-usage';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };

const PATHS = {
  generation: '/v2/video_generation',
  regeneration: '/v2/video_regeneration',
  context_ir: '/v2/h3_context_ir',
} as const;
const QUERY = '/v2/query/video_generation';
/** The page size of the vendor's example. The vendor does not document a maximum. */
const LIST_PAGE = 20;

/** The vendor's error numbers by the fault that they mean (vendor contract §7.2). */
const ALPHA_ERRORS: ErrorTable = {
  codes: {
    1000: 'channel',
    1001: 'channel',
    1024: 'channel',
    1033: 'channel',
    1002: 'throttle',
    1039: 'throttle',
    1041: 'throttle',
    2045: 'throttle',
    1004: 'credential',
    2049: 'credential',
    1008: 'credential',
    2056: 'credential',
    1028: 'credential',
    1030: 'credential',
    2061: 'credential',
    1026: 'content',
    1027: 'content',
    1042: 'order',
    2013: 'order',
  },
  statuses: { 400: 'order', 413: 'order', 422: 'content', 429: 'throttle' },
  otherwise: 'channel',
};

const NUMBER_AT_END = /\((\d{3,6})\)\s*$/;

const KINDS: Readonly<Record<string, Kind>> = {
  generation: 'generation',
  regeneration: 'regeneration',
  h3_context_ir: 'context_ir',
};

/** The status words of the vendor, of older revisions of its documents, and of this service. */
const REPORTS: Reports = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: toRunningReport,
  in_progress: toRunningReport,
  succeeded: toSuccessReport,
  completed: toSuccessReport,
  failed: (task, status) => toFailureReport(task, status, 'failed'),
  cancelled: (task, status) => toFailureReport(task, status, 'cancelled'),
  expired: (task, status) => toFailureReport(task, status, 'expired'),
};

/** The vendor's V2 API (vendor contract §2–§8), read as tolerantly as its §7.3 asks for. */
export const alphaV2: Adapter = {
  kit: 1,
  endpoints: ['video.generation', 'video.regeneration', 'video.context_ir'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  callbacks: { readId: (body) => readId(readObject(body['task'])['id']) ?? readId(body['task_id']) },
  openCalls: () => ({
    buildSubmit: (attempt) => ({ method: 'POST', path: PATHS[attempt.kind], json: toUpstreamBody(attempt) }),
    readSubmit,
    *poll(upstreamId) {
      return toPollResult(yield { method: 'GET', path: `${QUERY}/${encodeURIComponent(upstreamId)}` });
    },
    list: (since) =>
      listPages(since, {
        build: ({ number }) => ({ method: 'GET', path: `${QUERY}?page_num=${number}&page_size=${LIST_PAGE}` }),
        read: ({ items, total }) => ({ items, total }),
        toWork: toListedWork,
      }),
    *cancel(upstreamId) {
      const { status, body } = yield {
        method: 'DELETE',
        path: `/v2/video_generation/${encodeURIComponent(upstreamId)}`,
      };
      const { action, status: state } = readObject(body);
      return status === 200 && /^cancel/.test(readText(action) ?? readText(state) ?? '');
    },
    *test() {
      const { status, body } = yield { method: 'GET', path: `${QUERY}?page_num=1&page_size=1` };
      const fault = readBusinessError(status, body);
      return fault === undefined && status === 200
        ? { ok: true, detail: 'the list was read' }
        : { ok: false, detail: fault?.message ?? `HTTP ${status}` };
    },
  }),
};

function readSubmit(answer: UpstreamAnswer, attempt: Attempt): Submission {
  const { status, body } = answer;
  const error = readBusinessError(status, body);
  const submission = toSubmission(answer, {
    upstreamId: readId(readObject(body)['task_id']),
    error,
    table: ALPHA_ERRORS,
  });
  return blameChannelForCallback(attempt, submission);
}

/** The vendor calls the callback URL during the create. If it cannot reach ours, that is not the fault of the order. */
function blameChannelForCallback({ callbackUrl }: Attempt, submission: Submission): Submission {
  const ours =
    callbackUrl !== undefined &&
    submission.outcome === 'refused' &&
    submission.fault === 'order' &&
    /callback/i.test(submission.error);
  return ours ? { ...submission, fault: 'channel' } : submission;
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const { status, body } = answer;
  const error = readBusinessError(status, body);
  if (error !== undefined)
    return toNothingFound(answer, error, status === 404 || /invalid task_id/i.test(error.message));
  const task = readObject(readObject(body)['task']);
  return status === 200 && typeof task['status'] === 'string'
    ? { found: true, report: toReport(task) }
    : toNothingFound(answer, undefined);
}

/** The request body of an attempt. It holds only fields of the vendor's schema. */
function toUpstreamBody({ kind, model, content, callbackUrl, ...order }: Attempt): object {
  const items = content.map(toContentItem);
  if (kind === 'regeneration')
    return toFields({
      model,
      content: order.sourceUpstreamId === undefined ? items : undefined,
      source_task_id: order.sourceUpstreamId,
      resolution: order.resolution,
      aigc_watermark: order.aigcWatermark,
      callback_url: callbackUrl,
    });
  return toFields({
    model,
    content: items,
    resolution: kind === 'generation' ? order.resolution : undefined,
    duration: order.duration,
    ratio: order.ratio,
    callback_url: kind === 'context_ir' ? (order.clientCallbackUrl ?? callbackUrl) : callbackUrl,
  });
}

function toContentItem(item: AttemptItem): object {
  if ('text' in item) return { type: 'text', text: item.text };
  const type = TYPE_OF[item.media];
  return toFields({ type, [type]: { url: item.url }, role: item.role });
}

/**
 * The error of an answer of any status, in the V2 envelope or as `base_resp`. Error bodies of other shapes count as the
 * vendor's only below status 500: from 500 on they can come from a proxy that has passed the request on.
 */
function readBusinessError(status: number, body: unknown): ApiError | undefined {
  const base = readObject(readObject(body)['base_resp']);
  const said = base['status_code'] ?? 0;
  const baseCode = typeof said === 'object' ? Number.NaN : Number(said);
  if (baseCode !== 0)
    return { code: String(baseCode), message: `${readText(base['status_msg']) ?? 'refused'} (${baseCode})` };
  const error = readObject(readObject(body)['error']);
  if ((status < 400 || status >= 500) && readObject(body)['type'] !== 'error') return undefined;
  if (typeof error['message'] !== 'string') return undefined;
  return { code: NUMBER_AT_END.exec(error['message'])?.[1], message: error['message'] };
}

/** Converts a task object of the vendor into a report. A task is not updated after its end. */
function toReport(task: Json): Report {
  return withEndTime(readReport(REPORTS, task, String(task['status'])), readSecondsAsMs(task['updated_at']));
}

function toRunningReport(task: Json, status: string): Report {
  const progress = Number(task['progress']);
  return {
    phase: 'running',
    status,
    progress: Number.isInteger(progress) && progress >= 0 && progress < 100 ? progress : undefined,
  };
}

function toSuccessReport(task: Json, status: string): Report {
  const content = readObject(task['content']);
  return {
    phase: 'succeeded',
    status,
    url: readText(content['url']),
    prompt: readText(content['prompt']),
    usage: readUsage(readObject(task['usage'])),
  };
}

function toFailureReport(task: Json, status: string, word: string): Report {
  const error = readObject(task['error']);
  return toFailure(status, word === 'failed' ? (readId(error['code']) ?? word) : word, error['message']);
}

function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readId(task['id']) ?? '',
    kind: KINDS[String(task['task_type'])],
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}
