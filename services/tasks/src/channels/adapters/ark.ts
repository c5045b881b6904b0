import type { Clock } from '@reelgate/platform/clock';
import type { MediaKind } from '../../domain/order.ts';
import type { Adapter } from '../adapter.ts';
import type { Attempt, AttemptItem, Channel, ChannelSettings, ListedWork, PollResult, Submission } from '../channel.ts';
import { readObject, readText, readCount, toOptionalField } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import { listSince } from '../numbered-list.ts';
import { toSubmission, upstreamHttp } from '../upstream-http.ts';
import type { UpstreamAnswer, UpstreamHttp } from '../upstream-http.ts';
import type { WholeAnswer } from '../upstream-exchange.ts';
import type { Report } from '../../domain/report.ts';
import type { Usage } from '../../domain/task.ts';
import { withEndTime } from '../report-fields.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };
/**
 * This upstream reads `--dur 12` in a prompt as a command, and would make a longer video than the one that is charged.
 */
const COMMAND = /--(?=[a-z])/gi;
const DASH = '—';

const TASKS = '/api/v3/contents/generations/tasks';
const LIST_PAGE = 100;

/**
 * The video generation of Volcengine Ark and BytePlus ModelArk (the Seedance models). Sources: the official Python SDK
 * (volcengine-ark-runtime 5.0.54, resources and types of content_generation) and the API reference
 * (volcengine.com/docs/82379: 1520757 create, 1521309 query, 1521675 list, 1521720 cancel or delete, 1299023 error
 * codes). The status `expired` and the effect of DELETE in each state come from the newer reference, as resellers
 * repeat it (docs.powertokens.ai, docs.ai-tokenhub.com). Tested against recorded shapes only, not against a live
 * upstream. The reference does not say whether an error with 5xx comes before acceptance, so its outcome counts as
 * unknown.
 */
export const ark: Adapter = { endpoints: ['video.generation'], openChannel };

function openChannel(settings: ChannelSettings, clock: Clock): Channel {
  const http = upstreamHttp({ baseUrl: settings.baseUrl, clock }, () => ({
    authorization: `Bearer ${settings.apiKey.reveal()}`,
    accept: 'application/json',
  }));
  const { pollTimeoutMs, submitTimeoutMs } = settings;
  const get = (path: string, signal: AbortSignal): Promise<UpstreamAnswer> =>
    http.call({ method: 'GET', path, timeoutMs: pollTimeoutMs }, signal);
  return {
    settings,
    submit: async (attempt, signal) =>
      toSubmission(
        await http.call(
          { method: 'POST', path: TASKS, body: toUpstreamBody(attempt), timeoutMs: submitTimeoutMs },
          signal,
        ),
        readOutcome,
      ),
    poll: async (upstreamId, signal) => toPollResult(await get(buildTaskPath(upstreamId), signal)),
    list: (since, signal) =>
      listSince(since, {
        page: (page) => get(`${TASKS}?page_num=${page}&page_size=${LIST_PAGE}`, signal),
        toWork: toListedWork,
        isLast: isSortedPast,
      }),
    cancel: (upstreamId, signal) =>
      cancelIfQueued(http, { path: buildTaskPath(upstreamId), timeoutMs: pollTimeoutMs }, signal),
    test: async (signal) => {
      const answer = await get(`${TASKS}?page_num=1&page_size=1`, signal);
      if (answer.kind !== 'answer') return { ok: false, detail: answer.error };
      if (answer.status === 200 && Array.isArray(readObject(answer.body)['items']))
        return { ok: true, detail: 'the list was read' };
      return { ok: false, detail: readError(answer.body)?.message ?? `HTTP ${answer.status}` };
    },
    close: () => http.close(),
  };
}

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

function readOutcome({ status, body, retryAfterMs }: WholeAnswer): Submission {
  const upstreamId = readText(readObject(body)['id']);
  if (status >= 200 && status < 300 && upstreamId !== undefined) return { outcome: 'accepted', upstreamId };
  const error = readError(body);
  const said = `HTTP ${status}: ${error?.message ?? 'no readable answer'}`;
  return isRefusal(status)
    ? { outcome: 'refused', fault: classifyRefusal(status, error), error: said, retryAfterMs }
    : { outcome: 'unknown', error: said };
}

function isRefusal(status: number): boolean {
  return status >= 400 && status < 500 && status !== 408;
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  if (answer.kind !== 'answer') return { found: false, gone: false, error: answer.error };
  const task = readObject(answer.body);
  if (answer.status === 200 && typeof task['status'] === 'string') return { found: true, report: toReport(task) };
  return {
    found: false,
    gone: answer.status === 404,
    error: readError(answer.body)?.message ?? `HTTP ${answer.status} without a task`,
  };
}

/**
 * DELETE cancels queued work, but deletes the record and result of ended work. It is sent only if the work is queued.
 */
async function cancelIfQueued(
  http: UpstreamHttp,
  at: { readonly path: string; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const seen = await http.call({ method: 'GET', ...at }, signal);
  if (seen.kind !== 'answer' || seen.status !== 200 || readObject(seen.body)['status'] !== 'queued') return false;
  const done = await http.call({ method: 'DELETE', ...at }, signal);
  return done.kind === 'answer' && done.status >= 200 && done.status < 300 && readError(done.body) === undefined;
}

/**
 * The reference does not say how the list is sorted. It is read to its end, unless a page shows that older work
 * follows.
 */
function isSortedPast(since: number, page: readonly ListedWork[]): boolean {
  return (
    page.every(({ createdAt }, index) => createdAt <= (page[index - 1]?.createdAt ?? Infinity)) &&
    (page.at(-1)?.createdAt ?? since) < since
  );
}

/** The body of a create. The API writes resolutions in lower case. */
function toUpstreamBody({ model, order, content }: Attempt): object {
  return {
    model,
    content: content.map(toContentItem),
    ...toOptionalField('resolution', order.resolution?.toLowerCase()),
    ...toOptionalField('ratio', order.ratio),
    ...toOptionalField('duration', order.duration),
  };
}

function toContentItem(item: AttemptItem): object {
  if ('text' in item) return { type: 'text', text: item.text.replaceAll(COMMAND, DASH) };
  const type = TYPE_OF[item.media];
  return { type, [type]: { url: item.url }, ...toOptionalField('role', item.role) };
}

interface ArkError {
  readonly code: string;
  readonly message: string;
}

type FaultClass = 'channel' | 'throttle' | 'content' | 'order';

/** Codes end in details or a parameter name, so each class matches a part of the code. The first match counts. */
const CLASSES: readonly (readonly [RegExp, FaultClass])[] = [
  [/SensitiveContentDetected|RiskDetection$/, 'content'],
  [/^(InvalidEndpoint|ContentSecurityDetectionError|AuthenticationError|AccountOverdueError|AccessDenied)/, 'channel'],
  [/^(InvalidParameter|MissingParameter)/, 'order'],
];
const CLASS_OF_STATUS: Readonly<Record<number, FaultClass>> = {
  400: 'order',
  413: 'order',
  422: 'order',
  429: 'throttle',
};

function readError(body: unknown): ArkError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  return message === undefined ? undefined : { code: readText(error['code']) ?? '', message };
}

/**
 * Decides whose fault a refusal is. Status 429 is a throttle, whatever its code. An unknown error is the channel's
 * fault.
 */
function classifyRefusal(status: number, error: ArkError | undefined): FaultClass {
  if (status === 429) return 'throttle';
  return CLASSES.find(([codes]) => codes.test(error?.code ?? ''))?.[1] ?? CLASS_OF_STATUS[status] ?? 'channel';
}

const DEFAULT_FAILURE = 'the generator ended the task without a result';

const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: (_task, status) => ({ phase: 'running', status }),
  succeeded: (task, status) => ({
    phase: 'succeeded',
    status,
    url: readText(readObject(task['content'])['video_url']),
    usage: readUsage(task),
  }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

function toReport(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : withEndTime(known(task, status), task['updated_at']);
}

function toFailureReport(task: Json, status: string): Report {
  const error = readObject(task['error']);
  return {
    phase: 'failed',
    status,
    failure: { code: readText(error['code']) ?? status, message: readText(error['message']) ?? DEFAULT_FAILURE },
  };
}

/**
 * The tokens that the API counts and the length of the video. The API bills no sum of seconds, so there is no total.
 */
function readUsage(task: Json): Usage | undefined {
  const usage = readObject(task['usage']);
  const read: Usage = {
    totalTokens: readCount(usage['total_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
    outputSeconds: readCount(task['duration']),
  };
  return Object.values(read).some((value) => value !== undefined) ? read : undefined;
}

function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readText(task['id']) ?? '',
    kind: 'generation',
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}
