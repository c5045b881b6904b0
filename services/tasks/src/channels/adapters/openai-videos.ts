import type {
  Adapter,
  Attempt,
  ExtraFields,
  FormPart,
  Json,
  PollResult,
  Steps,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  isSuccess,
  joinTexts,
  listMedia,
  listPages,
  parseDataUrl,
  readId,
  readObject,
  readText,
  toFields,
  toNothingFound,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable } from '@reelgate/adapter-kit/kit';
import { formatSize, isCancelled, readVideo, readVideoId, toListedWork, toReport } from './openai-videos.report.ts';

const SEED_MAX = 2 ** 32 - 1;
const NEGATIVE_PROMPT_MAX = 2000;
const STYLE_MAX = 64;
const USER_MAX = 256;
const GUIDANCE_MAX = 100;
/**
 * Controls that gateways of this kind add to the API. None of them names a media file or a URL, changes the cost (`n`,
 * `quality`, `fps`, …) or says where something is sent.
 */
const OPENAI_VIDEOS_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: -1, most: SEED_MAX },
  style: { type: 'text', charactersMax: STYLE_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
  user: { type: 'text', charactersMax: USER_MAX },
  guidance_scale: { type: 'number', least: 0, most: GUIDANCE_MAX },
  cfg_scale: { type: 'number', least: 0, most: GUIDANCE_MAX },
  prompt_optimizer: { type: 'flag' },
  prompt_extend: { type: 'flag' },
  camera_fixed: { type: 'flag' },
  watermark: { type: 'flag' },
  aigc_watermark: { type: 'flag' },
};

const VIDEOS = '/v1/videos';
const MODELS = '/v1/models';
const LIST_PAGE = 100;

/** The differences between servers of this API, as `options` of the channel. */
interface VideosOptions {
  /** `form`: every order is sent as a multipart form. Default: only an order with a file. */
  readonly body: 'json' | 'form';
  /** `delete`: unfinished work is cancelled by DELETE. Only for servers that then stop it. */
  readonly cancel: 'cancel' | 'delete';
  /** The form of a first frame by its address. `reference_url`: a text in the field of that name. */
  readonly reference: 'image_url' | 'reference_url';
}

/** The fields of a first frame by its address, by the options `reference` and `body`. */
const REFERENCE_FIELDS: Readonly<
  Record<VideosOptions['reference'], Readonly<Record<VideosOptions['body'], (url: string) => Json>>>
> = {
  image_url: {
    json: (url) => ({ input_reference: { image_url: url } }),
    form: (url) => ({ image_reference: { image_url: url } }),
  },
  reference_url: { json: (url) => ({ reference_url: url }), form: (url) => ({ reference_url: url }) },
};

const OPTIONS_SCHEMA: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    body: { enum: ['json', 'form'], default: 'json' },
    cancel: { enum: ['cancel', 'delete'], default: 'cancel' },
    reference: { enum: ['image_url', 'reference_url'], default: 'image_url' },
  },
};

/**
 * The codes of OpenAI, of this service, of the gateways of the new-api family and of servers of open weights. An error
 * type stands for a missing code. A gateway that fails with 500 may have passed the order on.
 */
const OPENAI_VIDEOS_ERRORS: ErrorTable = {
  codes: {
    moderation_blocked: 'content',
    content_policy_violation: 'content',
    content_filter: 'content',
    content_rejected: 'content',
    sensitive_words_detected: 'content',
    insufficient_quota: 'credential',
    billing_hard_limit_reached: 'credential',
    insufficient_user_quota: 'credential',
    invalid_api_key: 'credential',
    token_disabled: 'credential',
    authentication_error: 'credential',
    permission_error: 'credential',
    model_price_error: 'channel',
    model_not_found: 'channel',
    no_channel_available: 'channel',
    api_not_implemented: 'channel',
    sentinel_block: 'channel',
    rate_limit_exceeded: 'throttle',
    rate_limit_error: 'throttle',
    too_many_tasks: 'throttle',
  },
  // A server of one model refuses every other with 400 and no code, which is a fault of the configuration.
  patterns: [[/^Model mismatch: /, 'channel', 'message']],
  inSuccess: 'channel',
};

/**
 * Any server that speaks the OpenAI videos API: gateways, this one included, so gateways can be chained, and servers of
 * open weights. Sources: `openai` (npm 7.55.0, resources/videos), vendor contract §12–13, and for open weights PyPI
 * `vllm-omni` 0.30.0 (entrypoints/openai/api_server.py, video/generation/helpers.py, protocol/videos.py) and `sglang`
 * 0.5.23 (multimodal_gen/runtime/entrypoints/openai). Gateways add `video_url`, `metadata.url`, `usage` and the cancel
 * route, and SGLang `url` and `urls`; they are used if they exist. vLLM-Omni needs the options `body: form` and
 * `cancel: delete`; SGLang needs `reference: reference_url`, reads `seconds` as a text too, and cannot stop work.
 * Tested against recorded shapes and fakes of both servers, not against a live upstream.
 */
export const openaiVideos: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: OPENAI_VIDEOS_EXTRA,
  options: OPTIONS_SCHEMA,
  openCalls: ({ options }) => {
    const { body = 'json', cancel = 'cancel', reference = 'image_url' } = options as Partial<VideosOptions>;
    return {
      buildSubmit: (attempt) => buildSubmit(attempt, { body, toReference: REFERENCE_FIELDS[reference][body] }),
      readSubmit: (answer) =>
        toSubmission(answer, {
          upstreamId: readVideoId(readVideo(answer.body)),
          error: readSubmitError(answer),
          table: OPENAI_VIDEOS_ERRORS,
        }),
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: buildVideoPath(upstreamId) }, upstreamId);
      },
      list: (since) =>
        listPages(since, {
          build: ({ after }) => ({
            method: 'GET',
            path: `${VIDEOS}?limit=${LIST_PAGE}&order=desc${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
          }),
          read: readPage,
          toWork: toListedWork,
        }),
      cancel: cancel === 'delete' ? deleteUnfinished : cancelVideo,
      *test() {
        const answer = yield { method: 'GET', path: MODELS };
        return answer.status === 200 && Array.isArray(readObject(answer.body)['data'])
          ? { ok: true, detail: 'the models were read' }
          : { ok: false, detail: readError(answer.body)?.message ?? `HTTP ${answer.status}` };
      },
    };
  },
};

function buildVideoPath(upstreamId: string): string {
  return `${VIDEOS}/${encodeURIComponent(upstreamId)}`;
}

/** A video object has an error only after it failed; without an id the body is an error of the API. */
function readSubmitError({ status, body }: UpstreamAnswer): ReturnType<typeof readError> {
  return isSuccess(status) && readVideoId(readVideo(body)) !== undefined ? undefined : readError(body);
}

/**
 * Reads a video object. A server of open weights answers the read of a failed video with the status of its error, so a
 * body that is the video counts, whatever the status.
 */
function toPollResult(answer: UpstreamAnswer, upstreamId: string): PollResult {
  const video = readVideo(answer.body);
  const isVideo =
    typeof video['status'] === 'string' &&
    (answer.status === 200 || (video['object'] === 'video' && readId(video['id']) === upstreamId));
  if (!isVideo) return toNothingFound(answer, readError(answer.body));
  const report = toReport(video);
  if (report.phase !== 'succeeded' || report.url !== undefined) return { found: true, report };
  return { found: true, report: { ...report, url: `${buildVideoPath(upstreamId)}/content`, needsKey: true } };
}

/** A page that says that more follow and does not say where is unreadable. */
function readPage({ data, has_more: hasMore, last_id: lastId }: Json): { items: unknown; after: string } {
  if (hasMore !== true) return { items: data, after: '' };
  const last = Array.isArray(data) ? readId(readObject(data.at(-1))['id']) : undefined;
  const after = readId(lastId) ?? last;
  return after === undefined ? { items: undefined, after: '' } : { items: data, after };
}

function* cancelVideo(upstreamId: string): Steps<boolean> {
  const answer = yield { method: 'POST', path: `${buildVideoPath(upstreamId)}/cancel` };
  const video = readVideo(answer.body);
  return isSuccess(answer.status) && typeof video['status'] === 'string' && isCancelled(video);
}

/** DELETE removes a finished video, so it is sent only if the work is seen to be unfinished. */
function* deleteUnfinished(upstreamId: string): Steps<boolean> {
  const path = buildVideoPath(upstreamId);
  const seen = toPollResult(yield { method: 'GET', path }, upstreamId);
  if (!seen.found || (seen.report.phase !== 'queued' && seen.report.phase !== 'running')) return false;
  const { status, body } = yield { method: 'DELETE', path };
  return isSuccess(status) && readObject(body)['deleted'] === true;
}

interface RequestForm {
  readonly body: VideosOptions['body'];
  readonly toReference: (url: string) => Json;
}

function buildSubmit(
  attempt: Attempt,
  { body, toReference }: RequestForm,
): UpstreamRequest | { readonly unfit: string } {
  const { model, content, duration, extra } = attempt;
  const media = listMedia(content);
  const [frame, second] = media;
  if (second !== undefined || (frame !== undefined && frame.role !== 'first_frame'))
    return { unfit: 'the videos API takes one first frame and no other media' };
  const file = frame === undefined ? undefined : parseDataUrl(frame.url);
  const fields = toFields({
    ...extra,
    model,
    prompt: joinTexts(content),
    seconds: duration === undefined ? undefined : String(duration),
    size: formatSize(attempt),
    ...(frame === undefined || file !== undefined ? {} : toReference(frame.url)),
  });
  if (file !== undefined) return { method: 'POST', path: VIDEOS, form: [...toParts(fields), toFilePart(file)] };
  return { method: 'POST', path: VIDEOS, ...(body === 'form' ? { form: toParts(fields) } : { json: fields }) };
}

function toParts(fields: Json): readonly FormPart[] {
  return Object.entries(fields).map(([name, value]) => ({
    name,
    text: typeof value === 'string' ? value : JSON.stringify(value),
  }));
}

function toFilePart({ type, base64 }: { readonly type: string; readonly base64: string }): FormPart {
  return { name: 'input_reference', fileName: `first_frame.${type.replace(/^.*\//, '')}`, type, base64 };
}

/**
 * The error of a body: in the envelope, in the flat form that some gateways use for their own errors, or in the
 * `detail` of servers built with FastAPI.
 */
function readError(body: unknown): ApiError | undefined {
  const outer = readObject(body);
  const inner = outer['error'];
  const error = typeof inner === 'string' ? { message: inner } : inner === undefined ? outer : readObject(inner);
  const message = readText(readObject(error)['message']) ?? readDetail(outer['detail']);
  if (message === undefined) return undefined;
  return { code: readKnownCode(readId(error['code'])) ?? readText(error['type']), message };
}

/** A code that the table does not know says less than a type that it knows. */
function readKnownCode(code: string | undefined): string | undefined {
  return code !== undefined && Object.hasOwn(OPENAI_VIDEOS_ERRORS.codes ?? {}, code) ? code : undefined;
}

/** The detail of FastAPI: a text, or a list of faults of fields. */
function readDetail(detail: unknown): string | undefined {
  if (!Array.isArray(detail)) return readText(detail);
  const faults = detail.map((one: unknown) => {
    const { loc, msg } = readObject(one);
    return [Array.isArray(loc) ? loc.join('.') : undefined, readText(msg)]
      .filter((part) => part !== undefined)
      .join(': ');
  });
  return readText(faults.filter((fault) => fault !== '').join('; '));
}
