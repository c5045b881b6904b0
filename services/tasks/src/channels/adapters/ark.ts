import type {
  Adapter,
  Attempt,
  AttemptItem,
  FindOutcome,
  Json,
  ListedWork,
  LostAttempt,
  MediaKind,
  PollResult,
  Report,
  Steps,
  UpstreamAnswer,
  Usage,
} from '@reelgate/adapter-kit';
import {
  isSuccess,
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
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { ARK_EXTRA, findArkUnfit, isMarked, listArkExtra, toExtraBody, toMark, toRatio } from './ark.extra.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };
/** This upstream reads `--dur 12` in a prompt as a command, and would render a longer video than the charged one. */
const COMMAND = /--(?=[a-z])/gi;
const DASH = '—';

const TASKS = '/api/v3/contents/generations/tasks';
/** The reference does not say how soon the list shows work. */
const VISIBLE_AFTER_MS = 120_000;

/**
 * Codes end in details or a parameter name, so each class matches a part of the code. Whether an error from status 500
 * on comes before acceptance is not documented.
 */
const ARK_ERRORS: ErrorTable = {
  patterns: [
    [/SensitiveContentDetected|RiskDetection$/, 'content'],
    [/^(AuthenticationError|AccountOverdueError|AccessDenied)/, 'credential'],
    [/^(InvalidEndpoint|ContentSecurityDetectionError)/, 'channel'],
    [/^(InvalidParameter|MissingParameter)/, 'order'],
    [/^(Quota|RateLimit|ModelAccountRpm|ServerOverloaded)/, 'throttle'],
  ],
  statuses: { 503: 'unknown', 501: 'unknown' },
};

const REPORTS: Reports = {
  queued: (_task, status) => ({ phase: 'queued', status }),
  running: (_task, status) => ({ phase: 'running', status }),
  // The words of gateways that keep the form of this API, as new-api reads them (relay/channel/task/doubao).
  pending: (_task, status) => ({ phase: 'queued', status }),
  processing: (_task, status) => ({ phase: 'running', status }),
  succeeded: (task, status) => ({
    phase: 'succeeded',
    status,
    url: readText(readObject(task['content'])['video_url']),
    lastFrameUrl: readText(readObject(task['content'])['last_frame_url']),
    usage: readUsage(task),
  }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

const LIST_PAGE = 100;

/** The upstream dates its work in whole seconds, by its own clock. */
const SLACK_MS = 60_000;

interface MarkedWork extends ListedWork {
  readonly mark: number | undefined;
}

/**
 * The video generation of Volcengine Ark and BytePlus ModelArk (the Seedance models). Sources: the official Python SDK
 * (volcengine-ark-runtime 5.0.54, resources and types of content_generation) and the API reference
 * (volcengine.com/docs/82379: 1520757 create, 1521309 query, 1521675 list, 1521720 cancel or delete, 1299023 error
 * codes; the page of Seedance 2.5 for the fields that each model takes). The status `expired` and the effect of DELETE in
 * each state come from the newer reference, as resellers repeat it (docs.powertokens.ai, docs.ai-tokenhub.com). Tested against recorded shapes only, not against a live
 * upstream. The reference does not say whether an error with 5xx comes before acceptance, so its outcome counts as
 * unknown.
 *
 * The upstream takes no id of its caller. It shows after how many seconds it gives work up, and each attempt chooses them by
 * its key, so a lost answer is found exactly. `safety_identifier` would be shown too, but is that of a person. Callbacks
 * have the body of a read, and no signature.
 */
export const ark: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: ARK_EXTRA,
  callbacks: { readId: (task) => readId(task['id']) },
  visibleAfterMs: VISIBLE_AFTER_MS,
  openCalls: () => ({
    listExtra: listArkExtra,
    buildSubmit: (attempt) => {
      const unfit = findArkUnfit(attempt);
      return unfit === undefined ? { method: 'POST', path: TASKS, json: toUpstreamBody(attempt) } : { unfit };
    },
    readSubmit: (answer) =>
      toSubmission(answer, {
        upstreamId: readId(readObject(answer.body)['id']),
        error: readError(answer.body),
        table: ARK_ERRORS,
      }),
    *poll(upstreamId) {
      return toPollResult(yield { method: 'GET', path: buildTaskPath(upstreamId) });
    },
    find: (lost) => findByMark(TASKS, lost),
    *list(since) {
      const works = yield* listWork(TASKS, since);
      return works?.map(({ mark: _mark, ...work }) => work);
    },
    cancel: cancelIfQueued,
    *test() {
      const { status, body } = yield { method: 'GET', path: `${TASKS}?page_num=1&page_size=1` };
      return status === 200 && Array.isArray(readObject(body)['items'])
        ? { ok: true, detail: 'the list was read' }
        : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
    },
  }),
};

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const task = readObject(answer.body);
  return answer.status === 200 && typeof task['status'] === 'string'
    ? { found: true, report: toReport(task) }
    : toNothingFound(answer, readError(answer.body));
}

/**
 * DELETE cancels queued work, but deletes the record and result of ended work. It is sent only if the work is queued.
 */
function* cancelIfQueued(upstreamId: string): Steps<boolean> {
  const path = buildTaskPath(upstreamId);
  const seen = yield { method: 'GET', path };
  if (seen.status !== 200 || readObject(seen.body)['status'] !== 'queued') return false;
  const { status, body } = yield { method: 'DELETE', path };
  return isSuccess(status) && readError(body) === undefined;
}

/** The body of a create. The API writes resolutions in lower case. */
function toUpstreamBody(attempt: Attempt): object {
  const { model, content, resolution, callbackUrl } = attempt;
  return toFields({
    model,
    content: content.map(toContentItem),
    resolution: resolution?.toLowerCase(),
    ratio: toRatio(attempt),
    callback_url: callbackUrl,
    ...toExtraBody(attempt),
  });
}

function toContentItem(item: AttemptItem): object {
  if ('text' in item) return { type: 'text', text: item.text.replaceAll(COMMAND, DASH) };
  const type = TYPE_OF[item.media];
  return toFields({ type, [type]: { url: item.url }, role: item.role });
}

function readError(body: unknown): ApiError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  return message === undefined ? undefined : { code: readText(error['code']), message };
}

function toReport(task: Json): Report {
  return withEndTime(readReport(REPORTS, task, String(task['status'])), readSecondsAsMs(task['updated_at']));
}

function toFailureReport(task: Json, status: string): Report {
  const error = readObject(task['error']);
  return toFailure(status, readText(error['code']), error['message']);
}

/**
 * The tokens that the API counts and the length of the video. The API bills no sum of seconds, so there is no total.
 */
function readUsage(task: Json): Usage | undefined {
  const usage = readObject(task['usage']);
  return toUsage({
    totalTokens: readCount(usage['total_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
    outputSeconds: readCount(task['duration']),
  });
}

function toListedWork(item: unknown): ListedWork {
  const task = readObject(item);
  return {
    upstreamId: readId(task['id']) ?? '',
    kind: 'generation',
    model: readText(task['model']) ?? '',
    duration: readCount(task['duration']),
    resolution: readText(task['resolution']),
    ratio: readText(task['ratio']),
    createdAt: (readCount(task['created_at']) ?? 0) * 1000,
  };
}

function* listWork(path: string, since: number): Steps<readonly MarkedWork[] | undefined> {
  return yield* listPages<MarkedWork>(since, {
    build: ({ number }) => ({ method: 'GET', path: `${path}?page_num=${number}&page_size=${LIST_PAGE}` }),
    read: ({ items, total }) => ({ items, total }),
    toWork: (item) => ({ ...toListedWork(item), mark: readCount(readObject(item)['execution_expires_after']) }),
    isLast: isSortedPast,
  });
}

/**
 * Searches the list for the mark of an attempt. An attempt that no work of its time has is said to have never arrived only
 * if the list shows the marks of all of them.
 */
function* findByMark(path: string, { key, extra, startedAt, endedAt }: LostAttempt): Steps<FindOutcome> {
  if (!isMarked(extra)) return { outcome: 'cannot know', why: 'the client chose when the work expires' };
  const works = yield* listWork(path, startedAt - SLACK_MS);
  if (works === undefined) return { outcome: 'cannot know', why: 'the list cannot be read' };
  const ofTheTime = works.filter(({ createdAt }) => createdAt <= endedAt + SLACK_MS);
  const [found, second] = ofTheTime.filter(({ mark }) => mark === toMark(key));
  if (second !== undefined) return { outcome: 'cannot know', why: 'more than one work has the mark of the attempt' };
  if (found !== undefined) return { outcome: 'accepted', upstreamId: found.upstreamId };
  return ofTheTime.every(({ mark }) => mark !== undefined)
    ? { outcome: 'never arrived' }
    : { outcome: 'cannot know', why: 'the list does not show when work expires' };
}

/**
 * The reference does not say how the list is sorted. It is read to its end, unless a page shows that older work
 * follows.
 */
function isSortedPast(page: readonly ListedWork[], since: number): boolean {
  return (
    page.every(({ createdAt }, index) => createdAt <= (page[index - 1]?.createdAt ?? Infinity)) &&
    (page.at(-1)?.createdAt ?? since) < since
  );
}
