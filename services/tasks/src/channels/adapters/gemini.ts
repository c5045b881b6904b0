import type {
  Adapter,
  Attempt,
  AttemptMedia,
  ExtraFields,
  Json,
  PollResult,
  Steps,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  buildModelOptions,
  extendRowSchema,
  findModel,
  findUnfit,
  joinTexts,
  listMedia,
  mergeModels,
  parseDataUrl,
  readId,
  readObject,
  readText,
  sortMedia,
  toFields,
  toFilledList,
  toNothingFound,
  toPrompt,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { ModelRow } from '@reelgate/adapter-kit/kit';
import { GEMINI_ERRORS, readBlock, readError, toInteractionReport, toOperationReport } from './gemini.report.ts';

const SEED_MAX = 2 ** 32 - 1;
const NEGATIVE_PROMPT_MAX = 2000;
/** The extra fields of an operation. An interaction takes neither. */
const GEMINI_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
};

const MODELS = '/v1beta/models?pageSize=1';
/** The name of an operation is its id. Any other id belongs to an interaction. */
const OPERATION = /^models\/\w[\w.-]*\/operations\/\w[\w-]*$/;
/** The one answer of 400 that says that the work does not exist; another one may pass. */
const UNKNOWN_INTERACTION = /invalid interaction name/i;

const INTERACTIONS = '/v1beta/interactions';

/** A model of the Gemini API. */
interface GeminiModel extends ModelRow {
  /** `operation`: the model is called by `predictLongRunning`, as Veo was. Default: by the Interactions API. */
  readonly form?: 'interaction' | 'operation' | undefined;
  /** The only length in seconds of a video with references or of a resolution other than 720p. */
  readonly fullLength?: number | undefined;
}

const WIDE_OR_TALL = ['16:9', '9:16'];

const VEO: GeminiModel = {
  form: 'operation',
  seconds: [4, 6, 8],
  fullLength: 8,
  resolutions: ['720p', '1080p', '4k'],
  ratios: WIDE_OR_TALL,
  frames: 'first and last',
  images: 3,
};

/**
 * The models by their API ids. The reference videos of Omni are of three seconds, which the API checks. Google has
 * very likely ended Veo here on 2026-10-22; its rows are for gateways that go on with the old form.
 */
const GEMINI_MODELS: Readonly<Record<string, GeminiModel>> = {
  'gemini-omni-1.1-flash': {
    seconds: { least: 3, most: 10 },
    resolutions: ['360p', '720p', '1080p', '4k'],
    ratios: WIDE_OR_TALL,
    frames: 'first',
    images: 3,
    videos: 3,
  },
  'veo-3.1-generate-preview': VEO,
  'veo-3.1-fast-generate-preview': VEO,
  'veo-3.1-lite-generate-preview': { ...VEO, resolutions: ['720p', '1080p'], images: 0 },
};

const GEMINI_OPTIONS = buildModelOptions(
  extendRowSchema({
    form: { enum: ['interaction', 'operation'], default: 'interaction' },
    fullLength: { type: 'integer', minimum: 1 },
  }),
);

/**
 * The Gemini API of Google: Omni by the Interactions API, and the long-running operations of Veo for models whose row
 * says so. Sources: PyPI google-genai 3.4.0 and npm `@google/genai` 3.1.0 (interactions: routes, fields, status words),
 * npm `@ai-sdk/google` 4.0.121 (google-video-model for the operations; interactions for images by https),
 * ai.google.dev/gemini-api/docs/video, /api-errors (codes) and /troubleshooting (a missing precondition). From third
 * parties alone: the words of a refused content, the 400 for an unknown interaction, the counts of references of Omni,
 * and what the lite model of Veo lacks. Tested against recorded shapes, and with both clients against a fake; not
 * against a live upstream.
 *
 * A video is ordered by its address, because one inside the interaction is sent twice: to the poll, and to the store. An
 * interaction that holds its bytes all the same is read too; `@google/genai` and `@ai-sdk/google` know that form.
 *
 * The API has no list and no id of the caller, and its webhooks are reported not to fire, so a person must search for
 * the work of a lost answer. No source shows the form in which Omni takes a last frame.
 */
export const gemini: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'x-goog-api-key' },
  extraFields: GEMINI_EXTRA,
  options: GEMINI_OPTIONS,
  openCalls: ({ options }) => {
    const models = mergeModels(GEMINI_MODELS, options);
    return {
      listExtra: ({ model }) => (findModel(models, model)?.form === 'operation' ? Object.keys(GEMINI_EXTRA) : []),
      buildSubmit: (attempt) => buildSubmit(models, attempt),
      readSubmit: (answer) => {
        const { id, name } = readObject(answer.body);
        const upstreamId = readId(id) ?? readText(name);
        // Work that has an id exists, even if it has an error.
        const error = upstreamId === undefined ? (readError(answer.body) ?? readBlock(answer.body)) : undefined;
        return toSubmission(answer, { upstreamId, error, table: GEMINI_ERRORS });
      },
      *poll(upstreamId) {
        const path = buildWorkPath(upstreamId);
        return toPollResult(yield { method: 'GET', path }, upstreamId, path);
      },
      cancel: cancelInteraction,
      *test() {
        const { status, body } = yield { method: 'GET', path: MODELS };
        return status === 200 && Array.isArray(readObject(body)['models'])
          ? { ok: true, detail: 'the models were read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildWorkPath(upstreamId: string): string {
  return OPERATION.test(upstreamId) ? `/v1beta/${upstreamId}` : `${INTERACTIONS}/${encodeURIComponent(upstreamId)}`;
}

function toPollResult(answer: UpstreamAnswer, upstreamId: string, path: string): PollResult {
  const work = readObject(answer.body);
  if (answer.status === 200) {
    if (OPERATION.test(upstreamId) && (readText(work['name']) !== undefined || typeof work['done'] === 'boolean'))
      return { found: true, report: toOperationReport(work, path) };
    if (typeof work['status'] === 'string') return { found: true, report: toInteractionReport(work, path) };
  }
  const error = readError(answer.body);
  const isUnknown = answer.status === 400 && UNKNOWN_INTERACTION.test(error?.message ?? '');
  return toNothingFound(answer, error, isUnknown || answer.status === 404);
}

/** Operations have no cancel. */
function* cancelInteraction(upstreamId: string): Steps<boolean> {
  if (OPERATION.test(upstreamId)) return false;
  const { status, body } = yield { method: 'POST', path: `${buildWorkPath(upstreamId)}/cancel` };
  return status === 200 && readObject(body)['status'] === 'cancelled';
}

/** Builds the request for an order, in the form of its model. */
function buildSubmit(
  models: Readonly<Record<string, GeminiModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model: id } = attempt;
  const model = findModel(models, id);
  if (model === undefined) return { unfit: `the model ${id} is unknown to this channel` };
  const unfit = describeUnfit(model, attempt);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  return model.form === 'operation'
    ? { method: 'POST', path: `/v1beta/models/${encodeURIComponent(id)}:predictLongRunning`, json: toInstance(attempt) }
    : { method: 'POST', path: INTERACTIONS, json: toInteraction(attempt) };
}

/** An interaction in the background, because without it the answer comes with the video. */
function toInteraction({ model, content, ...order }: Attempt): object {
  const media = listMedia(content);
  const text = joinTexts(content);
  return {
    model,
    background: true,
    input: [...media.map(toContentItem), ...(text === '' ? [] : [{ type: 'text', text }])],
    response_format: {
      type: 'video',
      delivery: 'uri',
      ...toFrame(order),
      duration: order.duration === undefined ? undefined : `${order.duration}s`,
    },
    // Without the task the model guesses the purpose of an image.
    generation_config: { video_config: { task: chooseTask(media) } },
  };
}

function chooseTask(media: readonly AttemptMedia[]): string {
  if (media.length === 0) return 'text_to_video';
  return media.some(({ role }) => role === 'first_frame') ? 'image_to_video' : 'reference_to_video';
}

function toContentItem({ media, url }: AttemptMedia): object {
  const file = parseDataUrl(url);
  return file === undefined ? { type: media, uri: url } : { type: media, data: file.base64, mime_type: file.type };
}

function toFrame({ ratio, resolution }: Partial<Attempt>): Json {
  return { aspect_ratio: ratio === 'adaptive' ? undefined : ratio, resolution: resolution?.toLowerCase() };
}

function toInstance({ content, duration, extra, ...order }: Attempt): object {
  const { first, last, images } = sortMedia(content);
  const { aspect_ratio: aspectRatio, resolution } = toFrame(order);
  return {
    instances: [
      toFields({
        prompt: toPrompt(content),
        image: toImage(first),
        lastFrame: toImage(last),
        referenceImages: toFilledList(images.map((url) => ({ image: toImage(url), referenceType: 'asset' }))),
      }),
    ],
    parameters: toFields({
      sampleCount: 1,
      aspectRatio,
      resolution,
      durationSeconds: duration,
      negativePrompt: extra?.['negative_prompt'],
      seed: extra?.['seed'],
    }),
  };
}

function toImage(url: string | undefined): object | undefined {
  const file = parseDataUrl(url ?? '');
  return file === undefined ? undefined : { bytesBase64Encoded: file.base64, mimeType: file.type };
}

/** Returns the reason why a model cannot express an order; undefined if it can. */
function describeUnfit(model: GeminiModel, attempt: Attempt): string | undefined {
  return findUnfit(model, attempt) ?? describeUnfitLength(model, attempt) ?? describeUnfitUrl(model, attempt);
}

function describeUnfitLength({ fullLength }: GeminiModel, attempt: Attempt): string | undefined {
  const { content, duration, resolution = '720p' } = attempt;
  if (fullLength === undefined || duration === undefined || duration === fullLength) return undefined;
  const hasReference = listMedia(content).some(({ role }) => role?.startsWith('reference_') === true);
  return hasReference || resolution.toLowerCase() !== '720p'
    ? `makes no video of ${duration} seconds with references or at ${resolution}`
    : undefined;
}

/** The Interactions API reads images from https, but no videos. `predictLongRunning` reads neither. */
function describeUnfitUrl({ form }: GeminiModel, { content }: Attempt): string | undefined {
  const isRemote = listMedia(content).some(
    ({ media, url }) => !url.startsWith('data:') && (form === 'operation' || media === 'video'),
  );
  return isRemote ? 'takes such media inside the request only: set `references: inline`' : undefined;
}
