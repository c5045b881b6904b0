import type {
  Adapter,
  Attempt,
  AttemptMedia,
  ExtraFields,
  Json,
  PollResult,
  Report,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  buildModelOptions,
  findModel,
  findUnfit,
  listMedia,
  MODEL_ROW_SCHEMA,
  readId,
  readList,
  readObject,
  readReport,
  readText,
  toContentFailure,
  toFailure,
  toFields,
  toFilledList,
  toMicroUsd,
  toNothingFound,
  toPrompt,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, ModelRow, Reports } from '@reelgate/adapter-kit/kit';

const SEED_MAX = 2 ** 32 - 1;
const OPENROUTER_EXTRA: ExtraFields = { seed: { type: 'whole', least: 0, most: SEED_MAX } };

const REPORTS: Reports = {
  pending: (_job, status) => ({ phase: 'queued', status }),
  in_progress: (_job, status) => ({ phase: 'running', status }),
  completed: (job, status) => ({ phase: 'succeeded', status, url: readText(readList(job['unsigned_urls'])[0]) }),
  failed: toFailureReport,
  cancelled: toFailureReport,
  expired: toFailureReport,
};

const VIDEOS = '/api/v1/videos';
const KEY = '/api/v1/key';

const CONTENT = 'content_policy_violation';

/** A callback URL is always one of this service. One that the upstream does not take is no fault of the order. */
const OPENROUTER_ERRORS: ErrorTable = {
  codes: { [CONTENT]: 'content' },
  patterns: [[/callback_url/i, 'channel', 'message']],
};

/** The words by which the text of a failed video says that its content was refused. It has no code. */
const CONTENT_WORDS = /\b(content polic|moderation|safety)/i;

/** The `options` of a channel that this adapter reads. */
interface OpenRouterOptions {
  /** The limits of single models, by their ids. A member that is absent has the value of any model. */
  readonly models?: Readonly<Record<string, ModelRow>> | undefined;
  /** With or without sound, where that changes the price. Default: as the model does. */
  readonly generate_audio?: boolean | undefined;
}

const OPENROUTER_OPTIONS = buildModelOptions(MODEL_ROW_SCHEMA, { generate_audio: { type: 'boolean' } });

/** The upstream decides how many references a model accepts. Next to frames it ignores them all. */
const ANY_NUMBER = Number.MAX_SAFE_INTEGER;

/** The limits that the API has for any model. It names models openly, so a model needs no row. */
const ANY_MODEL: ModelRow = {
  resolutions: ['360p', '480p', '720p', '768p', '1080p', '1K', '2K', '4K'],
  ratios: ['16:9', '9:16', '1:1', '4:3', '3:4', '3:2', '2:3', '21:9', '9:21'],
  frames: 'first and last',
  images: ANY_NUMBER,
  videos: ANY_NUMBER,
  audios: ANY_NUMBER,
};

/**
 * The video API of OpenRouter. Sources: npm `@openrouter/sdk` 1.3.19 (funcs/videoGeneration*, models/video*,
 * apiKeysGetCurrentKeyMetadata) for routes, fields, status words and the cost; openrouter.ai/docs for callbacks
 * (cookbook/video-generation/video-generation-webhooks), errors (api_reference/errors-and-debugging) and the rule that
 * frames win over references. No source says by which words a failed video names a refused content; those in
 * `CONTENT_WORDS` are a guess that changes the code of the failure alone. Tested against recorded shapes, and
 * with that client against a fake; not against a live upstream.
 *
 * The API has no list, no cancel and no id of the caller: only the callback finds the work of a lost answer.
 */
export const openrouter: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: OPENROUTER_EXTRA,
  options: OPENROUTER_OPTIONS,
  callbacks: {
    signature: { form: 'timestamped-hmac', header: 'x-openrouter-signature', joiner: ',' },
    readId: (body) => readId(readObject(body['data'])['id']),
  },
  openCalls: ({ options }) => ({
    buildSubmit: (attempt) => buildSubmit(options, attempt),
    readSubmit: (answer) => {
      const upstreamId = readId(readObject(answer.body)['id']);
      // A job that has an id exists, even if it has an error.
      const error = upstreamId === undefined ? readError(answer.body) : undefined;
      return toSubmission(answer, { upstreamId, error, table: OPENROUTER_ERRORS });
    },
    *poll(upstreamId) {
      const path = `${VIDEOS}/${encodeURIComponent(upstreamId)}`;
      return toPollResult(yield { method: 'GET', path }, `${path}/content?index=0`);
    },
    *test() {
      // The list of models is read without a key too.
      const { status, body } = yield { method: 'GET', path: KEY };
      return status === 200 && typeof readObject(readObject(body)['data'])['label'] === 'string'
        ? { ok: true, detail: 'the key was read' }
        : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
    },
  }),
};

function toPollResult(answer: UpstreamAnswer, contentPath: string): PollResult {
  const job = readObject(answer.body);
  return answer.status === 200 && typeof job['status'] === 'string'
    ? { found: true, report: toReport(job, contentPath) }
    : toNothingFound(answer, readError(answer.body));
}

function buildSubmit(options: OpenRouterOptions, attempt: Attempt): UpstreamRequest | { readonly unfit: string } {
  const { model, content, duration, resolution, ratio, callbackUrl, extra } = attempt;
  const unfit = describeUnfit(options, attempt);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  const media = listMedia(content);
  const frames = media.filter(({ role }) => role === 'first_frame' || role === 'last_frame');
  const references = media.filter((item) => !frames.includes(item));
  const json = toFields({
    model,
    prompt: toPrompt(content),
    duration,
    resolution: resolution === undefined ? undefined : formatResolution(resolution),
    aspect_ratio: ratio === 'adaptive' ? undefined : ratio,
    generate_audio: options.generate_audio,
    seed: extra?.['seed'],
    frame_images: toFilledList(frames.map((item) => ({ ...toReference(item), frame_type: item.role }))),
    input_references: toFilledList(references.map(toReference)),
    callback_url: callbackUrl,
  });
  return { method: 'POST', path: VIDEOS, json };
}

/** The API writes `720p`, but `4K`. */
function formatResolution(resolution: string): string {
  return /p$/i.test(resolution) ? resolution.toLowerCase() : resolution.toUpperCase();
}

function toReference({ media, url }: AttemptMedia): object {
  const type = `${media}_url`;
  return { type, [type]: { url } };
}

/** Converts a job into a report. `contentPath`: where its video is if the job does not say it. */
function toReport(job: Json, contentPath: string): Report {
  const report = readReport(REPORTS, job, String(job['status']));
  const costMicroUsd = readCost(readObject(job['usage']));
  if (report.phase === 'failed') return { ...report, costMicroUsd };
  return report.phase === 'succeeded'
    ? { ...report, url: report.url ?? contentPath, needsKey: true, costMicroUsd }
    : report;
}

/** With a provider's key of the customer the provider charges too, so the cost is not known. */
function readCost({ cost, is_byok: isByok }: Json): number | undefined {
  return isByok === true ? undefined : toMicroUsd(cost);
}

/** The error is a text without a code. */
function toFailureReport({ error }: Json, status: string): Report {
  return CONTENT_WORDS.test(readText(error) ?? '')
    ? toContentFailure(status, error)
    : toFailure(status, undefined, error);
}

/** The code of an error is its HTTP status again. A 403 with reasons comes from the moderation. */
function readError(body: unknown): ApiError | undefined {
  const error = readObject(readObject(body)['error']);
  const message = readText(error['message']);
  if (message === undefined) return undefined;
  const { reasons, error_type: type } = readObject(error['metadata']);
  const isModerated = readId(error['code']) === '403' && readList(reasons).length > 0;
  return { code: isModerated ? CONTENT : (readText(type) ?? readId(error['code'])), message };
}

/** Returns the reason why an order cannot be expressed; undefined if it can. */
function describeUnfit({ models = {} }: OpenRouterOptions, attempt: Attempt): string | undefined {
  return findUnfit({ ...ANY_MODEL, ...findModel(models, attempt.model) }, attempt);
}
