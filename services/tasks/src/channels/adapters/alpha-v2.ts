import type { Clock } from '@reelgate/platform/clock';
import type { MediaKind } from '../../domain/order.ts';
import type { Adapter } from '../adapter.ts';
import type { Attempt, AttemptItem, Channel, ChannelSettings, ListedWork, PollResult, Submission } from '../channel.ts';
import { readObject, readText, toOptionalField } from '../json-fields.ts';
import { listSince } from '../numbered-list.ts';
import { toSubmission, upstreamHttp } from '../upstream-http.ts';
import type { UpstreamAnswer } from '../upstream-http.ts';
import type { WholeAnswer } from '../upstream-exchange.ts';
import { classifyRefusal, readBusinessError } from './alpha-v2.errors.ts';
import { readId, toListedWork, toReport } from './alpha-v2.report.ts';

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
  endpoints: ['video.generation', 'video.regeneration', 'video.context_ir'],
  takesCallbacks: true,
  openChannel,
};

function openChannel(settings: ChannelSettings, clock: Clock): Channel {
  const http = upstreamHttp({ baseUrl: settings.baseUrl, clock }, () => ({
    authorization: `Bearer ${settings.apiKey.reveal()}`,
    accept: 'application/json',
  }));
  const get = (path: string, signal: AbortSignal): Promise<UpstreamAnswer> =>
    http.call({ method: 'GET', path, timeoutMs: settings.pollTimeoutMs }, signal);
  return {
    settings,
    submit: async (attempt, signal) => {
      const answer = await http.call(
        {
          method: 'POST',
          path: PATHS[attempt.kind],
          body: toUpstreamBody(attempt),
          timeoutMs: settings.submitTimeoutMs,
        },
        signal,
      );
      return blameChannelForCallback(attempt, toSubmission(answer, readOutcome));
    },
    poll: async (upstreamId, signal) => toPollResult(await get(`${QUERY}/${encodeURIComponent(upstreamId)}`, signal)),
    list: (since, signal) =>
      listSince(since, {
        page: (page) => get(`${QUERY}?page_num=${page}&page_size=${LIST_PAGE}`, signal),
        toWork: toListedWork,
        isLast: holdsOlder,
      }),
    cancel: async (upstreamId, signal) => {
      const answer = await http.call(
        {
          method: 'DELETE',
          path: `/v2/video_generation/${encodeURIComponent(upstreamId)}`,
          timeoutMs: settings.pollTimeoutMs,
        },
        signal,
      );
      if (answer.kind !== 'answer' || answer.status !== 200) return false;
      return /^cancel/.test(
        readText(readObject(answer.body)['action']) ?? readText(readObject(answer.body)['status']) ?? '',
      );
    },
    test: async (signal) => {
      const answer = await get(`${QUERY}?page_num=1&page_size=1`, signal);
      if (answer.kind !== 'answer') return { ok: false, detail: answer.error };
      const fault = readBusinessError(answer.status, answer.body);
      return fault === undefined && answer.status === 200
        ? { ok: true, detail: 'the list was read' }
        : { ok: false, detail: fault?.message ?? `HTTP ${answer.status}` };
    },
    close: () => http.close(),
  };
}

function readOutcome({ status, body, retryAfterMs }: WholeAnswer): Submission {
  const business = readBusinessError(status, body);
  if (business !== undefined)
    return { outcome: 'refused', fault: classifyRefusal(status, business), error: business.message, retryAfterMs };
  const upstreamId = readId(readObject(body)['task_id']);
  if (isSuccess(status) && upstreamId !== undefined) return { outcome: 'accepted', upstreamId };
  // Without an error in the vendor's format, only a status that a server sends before it accepts work is a refusal.
  if (status === 503 || (status >= 400 && status < 500 && status !== 408)) {
    return {
      outcome: 'refused',
      fault: classifyRefusal(status, { code: undefined, message: '' }),
      error: `HTTP ${status}`,
      retryAfterMs,
    };
  }
  return { outcome: 'unknown', error: `HTTP ${status} without a readable answer` };
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

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  if (answer.kind !== 'answer') return { found: false, gone: false, error: answer.error };
  const business = readBusinessError(answer.status, answer.body);
  if (business !== undefined)
    return {
      found: false,
      gone: answer.status === 404 || /invalid task_id/i.test(business.message),
      error: business.message,
    };
  const task = readObject(readObject(answer.body)['task']);
  if (answer.status !== 200 || typeof task['status'] !== 'string')
    return { found: false, gone: answer.status === 404, error: `HTTP ${answer.status} without a task` };
  return { found: true, report: toReport(task) };
}

function holdsOlder(since: number, page: readonly ListedWork[]): boolean {
  return page.some(({ createdAt }) => createdAt < since);
}

/** The request body of an attempt. It holds only fields of the vendor's schema. */
function toUpstreamBody({
  kind,
  model,
  order,
  content,
  sourceUpstreamId,
  callbackUrl,
}: Attempt): Readonly<Record<string, unknown>> {
  if (kind === 'regeneration') {
    const source =
      sourceUpstreamId === undefined ? { content: content.map(toContentItem) } : { source_task_id: sourceUpstreamId };
    return {
      model,
      ...source,
      resolution: order.resolution,
      ...toOptionalField('aigc_watermark', order.aigcWatermark),
      ...toOptionalField('callback_url', callbackUrl),
    };
  }
  return {
    model,
    content: content.map(toContentItem),
    ...(kind === 'generation' ? { resolution: order.resolution } : {}),
    duration: order.duration,
    ...toOptionalField('ratio', order.ratio),
    ...toOptionalField('callback_url', kind === 'context_ir' ? (order.callbackUrl ?? callbackUrl) : callbackUrl),
  };
}

function toContentItem(item: AttemptItem): Readonly<Record<string, unknown>> {
  if ('text' in item) return { type: 'text', text: item.text };
  const type = TYPE_OF[item.media];
  return { type, [type]: { url: item.url }, ...toOptionalField('role', item.role) };
}
