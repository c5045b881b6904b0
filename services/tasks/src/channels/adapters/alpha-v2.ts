import type { Adapter, Attempt, AttemptItem, MediaKind, Submission, UpstreamAnswer } from '@reelgate/adapter-kit';
import {
  listPages,
  readId,
  readObject,
  readText,
  toFields,
  toNothingFound,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { PollResult } from '@reelgate/adapter-kit';
import { ALPHA_ERRORS, readBusinessError } from './alpha-v2.errors.ts';
import { toListedWork, toReport } from './alpha-v2.report.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };

const PATHS = {
  generation: '/v2/video_generation',
  regeneration: '/v2/video_regeneration',
  context_ir: '/v2/h3_context_ir',
} as const;
const QUERY = '/v2/query/video_generation';
/** The page size of the vendor's example. The vendor does not document a maximum. */
const LIST_PAGE = 20;

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
