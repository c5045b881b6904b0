import type {
  Adapter,
  Attempt,
  ExtraFields,
  Json,
  PollResult,
  Report,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  buildModelOptions,
  extendRowSchema,
  findModel,
  findUnfit,
  joinTexts,
  mergeModels,
  MODEL_ROW_SCHEMA,
  readCount,
  readId,
  readObject,
  readPercent,
  readReport,
  readText,
  sortMedia,
  toContentFailure,
  toFailure,
  toFields,
  toFilledList,
  toMicroUsd,
  toNothingFound,
  toSubmission,
  toUsage,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, ModelRow, Reports } from '@reelgate/adapter-kit/kit';

const MODERATION = /moderat|content_policy/i;
/** A wrong key is answered with 400 and the code of a fault of the order. Only the message distinguishes them. */
const ERRORS: ErrorTable = {
  patterns: [
    [MODERATION, 'content'],
    [MODERATION, 'content', 'message'],
    [/incorrect api key/i, 'credential', 'message'],
  ],
};

const REPORTS: Reports = {
  pending: (work, status) => ({ phase: 'running', status, progress: readPercent(work['progress']) }),
  done: toDoneReport,
  failed: (work, status) => {
    const { code, message } = readObject(work['error']);
    return MODERATION.test(`${readText(code) ?? ''} ${readText(message) ?? ''}`)
      ? toContentFailure(status, message)
      : toFailure(status, code, message);
  },
  expired: (_work, status) => toFailure(status, status, undefined),
};

const VIDEOS = '/v1/videos';
const MODELS = '/v1/models';
const USER_MAX = 256;
const EXTRA: ExtraFields = { user: { type: 'text', charactersMax: USER_MAX } };
/** A US dollar in the unit of `cost_in_usd_ticks`. */
const TICKS = 1e10;

const OPTIONS_SCHEMA = buildModelOptions(extendRowSchema({ withReferences: MODEL_ROW_SCHEMA }));

/** A model of this API. It can do less with references. */
interface XaiRow extends ModelRow {
  /** The members that replace the members of the row if the order has references. */
  readonly withReferences?: ModelRow | undefined;
}

const SECONDS = { least: 1, most: 15 };
const RATIOS = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3'];

/** Seven images and three voices. The limit of ten seconds is named by one reseller alone. */
const REFERENCES = { images: 7, audios: 3 };

const WITH_REFERENCES: ModelRow = { seconds: { least: 1, most: 10 }, resolutions: ['480p', '720p'] };

/** The models that this adapter supports, by their API ids. */
const XAI_MODELS: Readonly<Record<string, XaiRow>> = {
  'grok-imagine-video': {
    seconds: SECONDS,
    resolutions: ['480p', '720p'],
    ratios: RATIOS,
    frames: 'first',
    ...REFERENCES,
    withReferences: WITH_REFERENCES,
  },
  'grok-imagine-video-1.5': {
    seconds: SECONDS,
    resolutions: ['480p', '720p', '1080p'],
    ratios: RATIOS,
    frames: 'first and last',
    ...REFERENCES,
    withReferences: WITH_REFERENCES,
  },
};

/**
 * Grok Imagine of xAI. Sources: npm @ai-sdk/xai 5.0.12 (src/xai-video-model.ts) for routes, bodies, status words, the
 * 202 of running work, the last frame and the voices of references, and what `ticks` are; PyPI xai-sdk 1.21.0
 * (types/video.py) for ratios; docs.x.ai (developers/model-capabilities/video/generation) for lengths; pull request
 * 17887 of vercel/ai for moderation as a 400 of the poll; issue 447 of i-am-bee/beeai-framework and issue 10778 of
 * continuedev/continue for the 400 of a wrong key. One third party alone names the codes of failed work, the 404 of
 * unknown work, the list of models and the ten seconds with references; each of them is used where an error costs
 * nothing. Tested against recorded shapes and a fake only, not against a live upstream. The API has no list, no
 * cancel and no callbacks, so a person must search for the work of a lost answer.
 */
export const xai: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: EXTRA,
  options: OPTIONS_SCHEMA,
  openCalls: ({ options }) => {
    const models = mergeModels(XAI_MODELS, options);
    return {
      buildSubmit: (attempt) => buildSubmit(models, attempt),
      readSubmit: (answer) =>
        toSubmission(answer, {
          upstreamId: readId(readObject(answer.body)['request_id']),
          error: readError(answer.body),
          table: ERRORS,
        }),
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: `${VIDEOS}/${encodeURIComponent(upstreamId)}` });
      },
      *test() {
        const { status, body } = yield { method: 'GET', path: MODELS };
        return status === 200 && Array.isArray(readObject(body)['data'])
          ? { ok: true, detail: 'the models were read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildSubmit(
  models: Readonly<Record<string, XaiRow>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model, content, duration, resolution, ratio, extra } = attempt;
  const row = findModel(models, model);
  if (row === undefined) return { unfit: `the model ${model} is unknown to this adapter` };
  const { first, last, images, audios } = sortMedia(content);
  const hasReferences = images.length + audios.length > 0;
  const unfit = findUnfit(hasReferences ? { ...row, ...row.withReferences } : row, attempt);
  if (unfit !== undefined) return { unfit: `the model ${model} ${unfit}` };
  const json = toFields({
    ...extra,
    model,
    prompt: joinTexts(content),
    duration,
    aspect_ratio: ratio === 'adaptive' ? undefined : ratio,
    resolution: resolution?.toLowerCase(),
    image: first === undefined ? undefined : { url: first },
    last_frame: last === undefined ? undefined : { url: last },
    reference_images: toUrlList(images),
    reference_audios: toUrlList(audios),
  });
  return { method: 'POST', path: `${VIDEOS}/generations`, json };
}

function toUrlList(urls: readonly string[]): readonly object[] | undefined {
  return toFilledList(urls.map((url) => ({ url })));
}

/** An error is flat, `{code, error}`, or an object, `{error: {message, type, code}}`. */
function readError(body: unknown): ApiError | undefined {
  const { code, error } = readObject(body);
  const { message, code: innerCode, type } = readObject(error);
  const text = readText(error) ?? readText(message);
  return text === undefined
    ? undefined
    : { code: readText(code) ?? readText(innerCode) ?? readText(type), message: text };
}

/**
 * Reads the work. Running work is a 202 with or without a body. Work that moderation stopped can be a 400; any other
 * 400 leaves the state unknown, because a 400 can pass.
 */
function toPollResult(answer: UpstreamAnswer): PollResult {
  const work = readObject(answer.body);
  const status = readStatus(answer.status, work);
  if (status !== undefined) return { found: true, report: readReport(REPORTS, work, status) };
  const error = readError(answer.body);
  return answer.status === 400 && error !== undefined && MODERATION.test(`${error.code ?? ''} ${error.message}`)
    ? { found: true, report: toContentFailure(error.code ?? 'moderated', error.message) }
    : toNothingFound(answer, error);
}

/** Older answers about done work had no status. */
function readStatus(httpStatus: number, work: Json): string | undefined {
  if (httpStatus === 202) return readText(work['status']) ?? 'pending';
  if (httpStatus !== 200) return undefined;
  return readText(work['status']) ?? (readText(readObject(work['video'])['url']) === undefined ? undefined : 'done');
}

/** A video that moderation holds back is charged like any other. */
function toDoneReport(work: Json, status: string): Report {
  const { url, duration, respect_moderation: respectsModeration } = readObject(work['video']);
  const costMicroUsd = toMicroUsd(readObject(work['usage'])['cost_in_usd_ticks'], TICKS);
  const cost = costMicroUsd === undefined ? {} : { costMicroUsd };
  if (respectsModeration === false) return { ...toContentFailure(status), ...cost };
  const usage = toUsage({ outputSeconds: readCount(duration) });
  return { phase: 'succeeded', status, url: readText(url), ...(usage === undefined ? {} : { usage }), ...cost };
}
