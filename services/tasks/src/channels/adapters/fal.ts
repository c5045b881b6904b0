import type {
  Adapter,
  Attempt,
  FindOutcome,
  Json,
  LostAttempt,
  PollResult,
  Steps,
  UpstreamAnswer,
} from '@reelgate/adapter-kit';
import {
  findError,
  hashKey,
  isSuccess,
  mergeModels,
  readId,
  readList,
  readObject,
  readReport,
  readText,
  toContentFailure,
  toFailure,
  toNothingFound,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { buildFalSubmit, findFalEndpoint, listTargets } from './fal.body.ts';
import { FAL_MODELS } from './fal.families.ts';
import { FAL_EXTRA, FAL_OPTIONS, listEndpoints, readApp } from './fal.models.ts';
import type { FalModel } from './fal.models.ts';

const TIME_HEADER = 'x-fal-webhook-timestamp';
const CANCELLED = 'client_cancelled';
/** Any endpoint does: the answer shows whether the key is taken. */
const TEST_ENDPOINT = 'fal-ai/veo3.1';

const ERROR_TYPE_HEADER = 'x-fal-error-type';
const COMPLETED = 'COMPLETED';
const UNFINISHED = 'Request is still in progress';

/** The statuses of a result route that repeat a failure of the model or of the machine that ran it. */
const ENDS = [400, 422];

/** The words for refused content. The second is known from one third party alone. */
const CONTENT = ['content_policy_violation', 'no_media_generated'];

/** The queue checks no input, so a refusal is about the key, the model or the load. A 5xx may come after acceptance. */
const FAL_ERRORS: ErrorTable = {
  codes: Object.fromEntries(CONTENT.map((word) => [word, 'content'] as const)),
  statuses: { 501: 'unknown', 503: 'unknown' },
};

const REPORTS: Reports = {
  IN_QUEUE: (_work, status) => ({ phase: 'queued', status }),
  IN_PROGRESS: (_work, status) => ({ phase: 'running', status }),
};

const PLATFORM = 'platform';
const REQUESTS = '/v1/models/requests/by-endpoint';
const PAGE = 100;
const PAGES_MAX = 20;

/** The clock of the upstream can be behind ours. */
const CLOCK_SLACK_MS = 60_000;

/**
 * The queue of fal. Sources: npm @fal-ai/client 1.10.1 (src/queue.js for routes, src/types/endpoints.d.ts for the
 * inputs of the models), npm @ai-sdk/fal 2.0.59 for the answer to a result that is asked for too early, and fal.ai/docs
 * (inference-api/queue: status, result, cancel; documentation/model-apis: errors, request-errors, webhooks;
 * platform-apis/v1/models/requests/by-endpoint). One third party alone says that a result can be gone from completed
 * work, that `no_media_generated` is about content, and that Hailuo makes 768p. Tested against recorded shapes and a
 * fake only, not against a live upstream.
 *
 * The id of a request is of no use without its owner and app, so the upstream id is `owner/app/request_id`. Work that
 * is `COMPLETED` may have failed or been cancelled: its result shows which.
 */
export const fal: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Key' },
  hosts: { [PLATFORM]: 'https://api.fal.ai' },
  answerHeaders: [ERROR_TYPE_HEADER],
  extraFields: FAL_EXTRA,
  options: FAL_OPTIONS,
  callbacks: {
    signature: {
      form: 'ed25519',
      header: 'x-fal-webhook-signature',
      signedHeaders: ['x-fal-webhook-request-id', 'x-fal-webhook-user-id', TIME_HEADER],
      timeHeader: TIME_HEADER,
      keys: 'https://rest.fal.ai/.well-known/jwks.json',
    },
    readId: (body, model) => toUpstreamId(readId(body['request_id']), readApp(model ?? '')),
  },
  openCalls: ({ options }) => {
    const models = mergeModels(FAL_MODELS, options);
    const targets = listTargets(models);
    return {
      listExtra: (order) => findFalEndpoint(targets, order)?.extra ?? [],
      buildSubmit: (attempt) => buildFalSubmit(targets, attempt),
      readSubmit: (answer, attempt) =>
        toSubmission(answer, {
          upstreamId: readUpstreamId(readObject(answer.body), attempt),
          error: isSuccess(answer.status) ? undefined : readError(answer),
          table: FAL_ERRORS,
        }),
      poll: pollWork,
      find: (lost) => findBySeed(models, lost),
      cancel: cancelWork,
      *test() {
        const answer = yield {
          method: 'GET',
          path: `${REQUESTS}?endpoint_id=${encodeURIComponent(TEST_ENDPOINT)}&limit=1`,
          host: PLATFORM,
        };
        return answer.status === 200 && Array.isArray(readObject(answer.body)['items'])
          ? { ok: true, detail: 'the history of requests was read' }
          : { ok: false, detail: readError(answer)?.message ?? `HTTP ${answer.status}` };
      },
    };
  },
};

/** The vendor wants the answered addresses used. Of them only the app is: the key goes to `base_url` alone. */
function readUpstreamId({ request_id: id, response_url: url }: Json, { model }: Attempt): string | undefined {
  const answered = /^https:\/\/[^/?#]+\/([^?#]+)\/requests\/[^/?#]+$/.exec(readText(url) ?? '')?.[1];
  const app = answered !== undefined && readApp(answered) === answered ? answered : readApp(model);
  return toUpstreamId(readId(id), app);
}

function toUpstreamId(requestId: string | undefined, app: string | undefined): string | undefined {
  return requestId === undefined || app === undefined ? undefined : `${app}/${requestId}`;
}

/** An id of another form is sent as one part of the path, where no work exists. */
function buildWorkPath(upstreamId: string): string {
  const app = readApp(upstreamId) ?? '';
  const rest = upstreamId.slice(app.length).replace(/^\//, '');
  return `${app === '' ? '' : `/${app}`}/requests/${encodeURIComponent(rest)}`;
}

function* pollWork(upstreamId: string): Steps<PollResult> {
  const path = buildWorkPath(upstreamId);
  const seen: UpstreamAnswer = yield { method: 'GET', path: `${path}/status?logs=0` };
  return isCompleted(seen) ? toResult(seen, yield { method: 'GET', path }) : toStatusResult(seen);
}

/**
 * 200 says that the work was taken from the queue. 202 says that it was asked to stop, and older pages say it of both,
 * so only the status that follows can confirm it.
 */
function* cancelWork(upstreamId: string): Steps<boolean> {
  const path = buildWorkPath(upstreamId);
  const { status, body } = yield { method: 'PUT', path: `${path}/cancel` };
  if (status === 200) return readObject(body)['status'] === 'OK';
  if (status !== 202) return false;
  const seen: UpstreamAnswer = yield { method: 'GET', path: `${path}/status?logs=0` };
  return isCompleted(seen) && readObject(seen.body)['error_type'] === CANCELLED;
}

/** An error is a list of a model, `{detail: [{type, msg}]}`, or a text of either, next to its type. */
function readError({ body, headers }: UpstreamAnswer): ApiError | undefined {
  const { detail, error, error_type: errorType } = readObject(body);
  const first = readObject(readList(detail)[0]);
  const { message: platformMessage, type: platformType } = readObject(error);
  const named = readText(detail) ?? readText(first['msg']) ?? readText(platformMessage) ?? readText(error);
  const message = named ?? findError(readObject(body))?.message;
  const code =
    readText(first['type']) ?? readText(errorType) ?? readText(platformType) ?? readText(headers[ERROR_TYPE_HEADER]);
  return message === undefined && code === undefined ? undefined : { code, message: message ?? code ?? '' };
}

/** Reports whether the status of work says that it ended, well or not. Only its result shows which. */
function isCompleted({ status, body }: UpstreamAnswer): boolean {
  return isSuccess(status) && readObject(body)['status'] === COMPLETED;
}

function toStatusResult(answer: UpstreamAnswer): PollResult {
  const work = readObject(answer.body);
  return isSuccess(answer.status) && typeof work['status'] === 'string'
    ? { found: true, report: readReport(REPORTS, work, work['status']) }
    : toNothingFound(answer, readError(answer));
}

/**
 * Reads the result of completed work. A failure repeats the status and the body of the model. Any other answer decides
 * nothing: a result that is gone was there, and a page of a proxy is not from the model.
 */
function toResult(statusAnswer: UpstreamAnswer, answer: UpstreamAnswer): PollResult {
  if (answer.status === 200) {
    const { video } = readObject(answer.body);
    const url = readText(readObject(video)['url']);
    return { found: true, report: { phase: 'succeeded', status: COMPLETED, url } };
  }
  const error = readError(answer);
  if (error?.message === UNFINISHED) return { found: true, report: { phase: 'running', status: 'IN_PROGRESS' } };
  const failure =
    (ENDS.includes(answer.status) || answer.status >= 500 ? error : undefined) ??
    readFailure(readObject(statusAnswer.body));
  if (failure === undefined) return toNothingFound(answer, error, false);
  const { code = 'failed', message } = failure;
  return {
    found: true,
    report: CONTENT.includes(code) ? toContentFailure(COMPLETED) : toFailure(COMPLETED, code, message),
  };
}

/** Returns the failure that the status of completed work names, or undefined if it names no failure. */
function readFailure({ error, error_type: errorType }: Json): ApiError | undefined {
  const code = readText(errorType);
  const message = readText(error);
  return code === undefined && message === undefined ? undefined : { code, message: message ?? '' };
}

/**
 * Searches the history of the account for the input with the seed of the attempt. The same endpoint has no other work
 * with this seed in the time of a search, but for one chance in two thousand million. It is not known whether waiting work
 * is in the history, so an attempt that is not there may have arrived. An attempt without our seed cannot be found: its
 * endpoint has no seed, or the client chose the seed.
 */
function* findBySeed(
  models: Readonly<Record<string, FalModel>>,
  { key, model, startedAt }: LostAttempt,
): Steps<FindOutcome> {
  const known = models[model] ?? {};
  const endpoints = listEndpoints(known).filter(({ extra }) => extra?.includes('seed') === true);
  const app = readApp(model);
  if (endpoints.length === 0 || app === undefined)
    return { outcome: 'cannot know', why: `the model ${model} takes no seed to find work by` };
  const ids = encodeURIComponent(endpoints.map(({ path }) => (known.base ?? model) + path).join(','));
  const start = encodeURIComponent(new Date(startedAt - CLOCK_SLACK_MS).toISOString());
  const first = `${REQUESTS}?endpoint_id=${ids}&start=${start}&expand=payloads&limit=${PAGE}`;
  const found = new Set<string>();
  let cursor: string | undefined;
  for (let page = 0; page < PAGES_MAX; page += 1) {
    const path: string = cursor === undefined ? first : `${first}&cursor=${encodeURIComponent(cursor)}`;
    const { status, body } = yield { method: 'GET', path, host: PLATFORM };
    const { items, next_cursor: next, has_more: hasMore } = readObject(body);
    if (status !== 200 || !Array.isArray(items))
      return { outcome: 'cannot know', why: `the history of requests cannot be read: HTTP ${status}` };
    for (const id of readIdsWithSeed(items, hashKey(key))) found.add(id);
    cursor = hasMore === true ? readText(next) : undefined;
    if (cursor === undefined) return toFound(app, found);
  }
  return { outcome: 'cannot know', why: 'the history of requests is too long' };
}

function readIdsWithSeed(items: unknown, seed: number): readonly string[] {
  return readList(items)
    .map(readObject)
    .filter(({ json_input: input }: Json) => readObject(input)['seed'] === seed)
    .flatMap(({ request_id: id }) => readId(id) ?? []);
}

function toFound(app: string, ids: ReadonlySet<string>): FindOutcome {
  const [id, second] = ids;
  if (id === undefined) return { outcome: 'cannot know', why: 'the history of requests does not hold the attempt' };
  return second === undefined
    ? { outcome: 'accepted', upstreamId: `${app}/${id}` }
    : { outcome: 'cannot know', why: 'more than one request has the seed of the attempt' };
}
