import type {
  Adapter,
  ExtraFields,
  FindOutcome,
  Json,
  ListedWork,
  LostAttempt,
  PollResult,
  Report,
  Steps,
  UpstreamAnswer,
} from '@reelgate/adapter-kit';
import {
  findModel,
  isSuccess,
  listPages,
  mergeModels,
  readCount,
  readId,
  readIsoTime,
  readObject,
  readReport,
  readText,
  readWebUrl,
  toContentFailure,
  toFailure,
  toNothingFound,
  toSubmission,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { buildReplicateSubmit, listTargets } from './replicate.body.ts';
import { REPLICATE_MODELS, REPLICATE_OPTIONS } from './replicate.models.ts';
import type { ReplicateModel } from './replicate.models.ts';

const PREDICTIONS = '/v1/predictions';
const ACCOUNT = '/v1/account';
const POLLS_PER_MINUTE = 3000;
/** The reference does not say that a 503 or a 501 comes before acceptance, and work can be searched for. */
const ERRORS: ErrorTable = { statuses: { 501: 'unknown', 503: 'unknown' } };
const SEED_MAX = 2 ** 31 - 1;
const NEGATIVE_PROMPT_MAX = 2000;
const EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
  prompt_optimizer: { type: 'flag' },
};
/** Clocks differ. The search begins this long before the attempt by our clock. */
const CLOCK_SKEW_MS = 300_000;
/** Our caution: the reference does not say when new work is in the list. A repeated order would be paid for twice. */
const VISIBLE_AFTER_MS = 300_000;

/** A failure has a text and no code, so refused content shows in words of the models alone. */
const CONTENT = /flagged as sensitive|\(E005\)|\bNSFW\b/i;

const FILES_LIVE_MS = 3_600_000;

const REPORTS: Reports = {
  starting: (_work, status) => ({ phase: 'queued', status }),
  processing: (_work, status) => ({ phase: 'running', status }),
  succeeded: toSuccessReport,
  failed: (work, status) =>
    CONTENT.test(readText(work['error']) ?? '')
      ? toContentFailure(status, work['error'])
      : toFailure(status, undefined, work['error']),
  canceled: (_work, status) => toFailure(status, status, undefined),
  aborted: (_work, status) => toFailure(status, status, undefined),
};

/**
 * The predictions of Replicate. Sources: PyPI replicate 2.0.0b4 (resources/predictions.py, made from the OpenAPI) and
 * npm replicate 1.4.0 (index.d.ts, lib/predictions.js, lib/util.js) for routes, bodies, status words, the life of files
 * and signatures; replicate.com/docs (topics/predictions/rate-limits, topics/webhooks) for limits and events. The rows
 * of Veo and Kling come from the schemas of their models. Those of Hailuo, Seedance and Wan, the 1080p of Kling, the
 * 16:9 of Hailuo and the words of refused content are known from third parties alone: a wrong one costs a refusal of
 * the upstream, or shows its own words. Tested against recorded shapes and a fake, not against a live upstream.
 *
 * Work is found again by the webhook of its order, which holds a token of the attempt. The list may leave webhooks out
 * and hides input after an hour. Work of the same model without a webhook therefore proves nothing.
 */
export const replicate: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: EXTRA,
  options: REPLICATE_OPTIONS,
  pollsPerMinute: POLLS_PER_MINUTE,
  visibleAfterMs: VISIBLE_AFTER_MS,
  callbacks: {
    signature: { form: 'standard-webhooks' },
    readId: (body) => readId(body['id']),
  },
  openCalls: ({ options }) => {
    const models = mergeModels(REPLICATE_MODELS, options);
    const targets = listTargets(models);
    return {
      listExtra: ({ model }) => models[model]?.extra ?? [],
      buildSubmit: (attempt) => buildReplicateSubmit(targets, attempt),
      readSubmit: (answer) => {
        const upstreamId = readId(readObject(answer.body)['id']);
        return toSubmission(answer, {
          upstreamId,
          // A prediction has a text `error` of its own; only a body without an id is a refusal.
          error: upstreamId === undefined ? readError(answer.body) : undefined,
          table: ERRORS,
        });
      },
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: buildPredictionPath(upstreamId) });
      },
      find: findByWebhook,
      list: (since) =>
        listPages(since, {
          build: ({ after }) => ({ method: 'GET', path: buildListPath(after === '' ? toSinceQuery(since) : after) }),
          read: readPage,
          toWork: (item) => toListedWork(models, item),
        }),
      *cancel(upstreamId) {
        const { status, body } = yield { method: 'POST', path: `${buildPredictionPath(upstreamId)}/cancel` };
        const state = readObject(body)['status'];
        return isSuccess(status) && (state === 'canceled' || state === 'aborted');
      },
      *test() {
        const { status, body } = yield { method: 'GET', path: ACCOUNT };
        return status === 200 && readText(readObject(body)['username']) !== undefined
          ? { ok: true, detail: 'the account was read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildPredictionPath(upstreamId: string): string {
  return `${PREDICTIONS}/${encodeURIComponent(upstreamId)}`;
}

function buildListPath(query: string): string {
  return `${PREDICTIONS}?${query}`;
}

function toSinceQuery(since: number): string {
  return `created_after=${encodeURIComponent(new Date(since).toISOString())}`;
}

function readError(body: unknown): ApiError | undefined {
  const { detail, title } = readObject(body);
  const message = readText(detail) ?? readText(title);
  return message === undefined ? undefined : { message };
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const work = readObject(answer.body);
  return answer.status === 200 && typeof work['status'] === 'string'
    ? { found: true, report: toReport(work) }
    : toNothingFound(answer, readError(answer.body));
}

/** A page names its successor by a whole address. Only its query is used, so no page can point elsewhere. */
function readPage({ results, next }: Json): { items: unknown; after: string } {
  if (next === null || next === undefined) return { items: results, after: '' };
  const after = typeof next === 'string' && URL.canParse(next) ? new URL(next).search.slice(1) : '';
  return after === '' ? { items: undefined, after } : { items: results, after };
}

function* findByWebhook({ model, callbackUrl, startedAt }: LostAttempt): Steps<FindOutcome> {
  if (callbackUrl === undefined) return { outcome: 'cannot know', why: 'the attempt was sent without a webhook' };
  let [query, isProof] = [toSinceQuery(startedAt - CLOCK_SKEW_MS), true];
  // The service bounds the calls of an operation.
  while (query !== '') {
    const { status, body }: UpstreamAnswer = yield { method: 'GET', path: buildListPath(query) };
    const { items, after } = readPage(readObject(body));
    if (status !== 200 || !Array.isArray(items))
      return { outcome: 'cannot know', why: readError(body)?.message ?? `HTTP ${status} without a list` };
    const works = items.map(readObject);
    const upstreamId = readId(works.find(({ webhook }) => isSameUrl(webhook, callbackUrl))?.['id']);
    if (upstreamId !== undefined) return { outcome: 'accepted', upstreamId };
    isProof &&= works.every((work) => isOther(work, { model, callbackUrl }));
    query = after;
  }
  return isProof
    ? { outcome: 'never arrived' }
    : { outcome: 'cannot know', why: 'the list holds work of this model without a webhook' };
}

function isSameUrl(webhook: unknown, url: string): boolean {
  return typeof webhook === 'string' && URL.canParse(webhook) && new URL(webhook).href === new URL(url).href;
}

/** Reports whether listed work cannot be the lost one: it names another webhook or another model. */
function isOther({ webhook, model }: Json, lost: { readonly model: string; readonly callbackUrl: string }): boolean {
  if (readText(webhook) !== undefined) return !isSameUrl(webhook, lost.callbackUrl);
  const name = readText(model);
  return name !== undefined && name !== lost.model.replace(/:.*$/, '');
}

/** Converts a prediction into a report. */
function toReport(work: Json): Report {
  return withEndTime(readReport(REPORTS, work, String(work['status'])), readIsoTime(work['completed_at']));
}

/** A result that the upstream has removed never comes back, so the work counts as failed. */
function toSuccessReport(work: Json, status: string): Report {
  const { output, data_removed: isRemoved, completed_at: completedAt } = work;
  if (isRemoved === true && (output === null || output === undefined))
    return toFailure(status, 'result_removed', 'the generator removed the result before it was fetched');
  const endedAt = readIsoTime(completedAt);
  return {
    phase: 'succeeded',
    status,
    url: readWebUrl(Array.isArray(output) ? output[0] : output),
    ...(endedAt === undefined ? {} : { urlDiesAt: endedAt + FILES_LIVE_MS }),
  };
}

/** The id of the model as the configuration writes it: with the version if a row has it. */
function toListedWork(models: Readonly<Record<string, ReplicateModel>>, item: unknown): ListedWork {
  const work = readObject(item);
  const name = readText(work['model']) ?? '';
  const versioned = `${name}:${readText(work['version']) ?? ''}`;
  const model = Object.hasOwn(models, versioned) ? versioned : name;
  const inputs = findModel(models, model)?.inputs;
  const input = readObject(work['input']);
  return {
    upstreamId: readId(work['id']) ?? '',
    kind: 'generation',
    model,
    duration: readCount(input[inputs?.duration ?? '']),
    resolution: readText(input[inputs?.resolution ?? '']),
    ratio: readText(input[inputs?.ratio ?? '']),
    createdAt: readIsoTime(work['created_at']) ?? 0,
  };
}
