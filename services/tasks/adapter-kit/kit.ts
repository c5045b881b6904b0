/*
 * What adapters have in common: readers of JSON that never throw, the one table of refusals, pages of lists, and the
 * check of an order against the facts of a model. All of it is pure.
 */
import type {
  Attempt,
  AttemptItem,
  AttemptMedia,
  Failure,
  Fault,
  Json,
  ListedWork,
  PollResult,
  Report,
  Role,
  Steps,
  Submission,
  UpstreamAnswer,
  UpstreamRequest,
  Usage,
} from './adapter.ts';

/** The value as an object. Upstreams do not always keep to their schema, so any other value is an empty object. */
export function readObject(value: unknown): Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : {};
}

/** Returns the value if it is a list, else an empty list. */
export function readList(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/** Stands in an answer for a text of more than 64 KiB, such as the Base64 of a video. */
export const CUT_TEXT = '(a text of more than 64 KiB)';

/** Returns the value if it is a non-empty text. A cut text does not count, because the upstream said something else. */
export function readText(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' && value !== CUT_TEXT ? value : undefined;
}

/** Reports whether the upstream said a non-empty text here, which may have been cut. */
export function hasText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

/** An id is a non-empty text. A whole number is converted, unless it is so large that its digits may be lost. */
export function readId(value: unknown): string | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) ? String(value) : readText(value);
}

/** The value if it is a whole number that is not negative. */
export function readCount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
}

/** The value as a time in milliseconds since 1970 if it is one in whole seconds. */
export function readSecondsAsMs(value: unknown): number | undefined {
  const seconds = readCount(value);
  return seconds === undefined || seconds === 0 ? undefined : seconds * 1000;
}

/** The value as a time in milliseconds since 1970 if it is an ISO 8601 text with an offset. */
export function readIsoTime(value: unknown): number | undefined {
  const time = typeof value === 'string' && /(Z|[+-]\d\d:?\d\d)$/.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isFinite(time) ? time : undefined;
}

/** A progress in percent: 0 to 99, because only finished work has 100. */
export function readPercent(value: unknown): number | undefined {
  const percent = typeof value === 'string' && /^\d{1,2}%?$/.test(value) ? Number.parseInt(value, 10) : value;
  return typeof percent === 'number' && Number.isInteger(percent) && percent >= 0 && percent < 100
    ? percent
    : undefined;
}

/** A web address; undefined for any other text. */
export function readWebUrl(value: unknown): string | undefined {
  return typeof value === 'string' && /^https?:\/\//i.test(value) ? value : undefined;
}

/** An amount in US dollars, a number or a decimal text, in millionths. Undefined if it is negative or no number. */
export function toMicroUsd(dollars: unknown, perDollar = 1): number | undefined {
  const amount = typeof dollars === 'string' && /^\d{1,12}(\.\d{1,12})?$/.test(dollars) ? Number(dollars) : dollars;
  if (typeof amount !== 'number' || !(amount >= 0)) return undefined;
  const micros = Math.round((amount / perDollar) * 1_000_000);
  return Number.isSafeInteger(micros) ? micros : undefined;
}

/** Returns the usage with its known members, or undefined if no member is known. */
export function toUsage(usage: Usage): Usage | undefined {
  return Object.values(usage).some((value) => value !== undefined) ? usage : undefined;
}

/** The fields of an object that are not undefined. */
export function toFields(fields: Json): Json {
  const known: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) if (value !== undefined) known[name] = value;
  return known;
}

const FNV_OFFSET = 0x811c9dc5;
const FNV_PRIME = 0x01000193;
const MIX_1 = 0x85ebca6b;
const MIX_2 = 0xc2b2ae35;

/** A number from 0 to 2^31 - 1 for the key of an attempt, always the same, and evenly spread over many keys. */
export function hashKey(key: string): number {
  let hash = FNV_OFFSET;
  for (const character of key) hash = Math.imul(hash ^ (character.codePointAt(0) ?? 0), FNV_PRIME);
  hash = Math.imul(hash ^ (hash >>> 16), MIX_1);
  hash = Math.imul(hash ^ (hash >>> 13), MIX_2);
  return (hash ^ (hash >>> 16)) >>> 1;
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** An error in the form of an upstream. */
export interface ApiError {
  readonly code?: string | undefined;
  readonly message: string;
}

/** The class of a refusal; `unknown`: the upstream may have accepted the order all the same. */
export type ErrorClass = Fault | 'unknown';

/** The faults of an upstream as data. What stands first in this interface decides first. */
export interface ErrorTable {
  /** By the whole code. */
  readonly codes?: Readonly<Record<string, ErrorClass>>;
  /** By a part of the code, or of the message if there is no other way. */
  readonly patterns?: readonly (readonly [RegExp, ErrorClass, ('code' | 'message')?])[];
  /** By the HTTP status. */
  readonly statuses?: Readonly<Record<number, ErrorClass>>;
  /**
   * The class of any other error in the form of the upstream. The default is the class of its status in
   * `FAULT_OF_STATUS`.
   */
  readonly otherwise?: ErrorClass;
  /** The class of any other error inside an answer of success. Default: `unknown`, because the work may exist. */
  readonly inSuccess?: ErrorClass;
}

/**
 * The class of a refusal by its HTTP status, for every upstream that does not say more. A status from 500 on can come
 * from a proxy that has passed the order on; 503 says that no server took it.
 */
export const FAULT_OF_STATUS: Readonly<Record<number, ErrorClass>> = {
  400: 'order',
  401: 'credential',
  402: 'credential',
  403: 'credential',
  408: 'unknown',
  413: 'order',
  415: 'order',
  422: 'order',
  429: 'throttle',
  501: 'channel',
  503: 'channel',
};

export function classifyError(
  { codes = {}, patterns = [], statuses = {}, otherwise, inSuccess = 'unknown' }: ErrorTable,
  status: number,
  error: ApiError | undefined,
): ErrorClass {
  const code = error?.code ?? '';
  if (Object.hasOwn(codes, code)) return codes[code] ?? 'unknown';
  const matching = patterns.find(([pattern, , part = 'code']) =>
    pattern.test(part === 'code' ? code : (error?.message ?? '')),
  );
  if (matching !== undefined) return matching[1];
  if (statuses[status] !== undefined) return statuses[status];
  if (error !== undefined && otherwise !== undefined) return otherwise;
  if (isSuccess(status)) return error === undefined ? 'unknown' : inSuccess;
  return FAULT_OF_STATUS[status] ?? (status >= 400 && status < 500 ? 'channel' : 'unknown');
}

/** The parts of the answer to a submission that an adapter reads. */
export interface SubmitReading {
  readonly upstreamId: string | undefined;
  readonly error: ApiError | undefined;
  readonly table: ErrorTable;
}

/** The outcome of a submission: accepted if the answer is a success with an id and without an error. */
export function toSubmission(
  { status, body, retryAfterMs }: UpstreamAnswer,
  { upstreamId, error, table }: SubmitReading,
): Submission {
  if (isSuccess(status) && upstreamId !== undefined && error === undefined) return { outcome: 'accepted', upstreamId };
  const said = `HTTP ${status}: ${(error ?? findError(readObject(body)))?.message ?? 'no readable answer'}`;
  const fault = classifyError(table, status, error);
  return fault === 'unknown'
    ? { outcome: 'unknown', error: said }
    : { outcome: 'refused', fault, error: said, retryAfterMs };
}

/** The report for each status word of an upstream. */
export type Reports = Readonly<Record<string, (work: Json, status: string) => Report>>;

/**
 * Reads the report of work by its status word. An unknown word is a report of its own, and never an end. A failure without
 * a reason gets the one that the work names. `word`: the status in the form that the reports know, if that is another one.
 */
export function readReport(reports: Reports, work: Json, status: string, word = status): Report {
  const read = Object.hasOwn(reports, word) ? reports[word] : undefined;
  return read === undefined ? { phase: 'unrecognised', status } : withReason(read(work, status), work);
}

export const DEFAULT_FAILURE = 'the generator ended the task without a result';

/** The code of a failure for work that ended well at the upstream, and has no result. */
export const NO_RESULT = 'no_result';

/** The failure that a client sees if the upstream refused the content and gave no words for it. */
export const CONTENT_REJECTED: Failure = { code: 'content_rejected', message: 'the generator refused the content' };

export function toFailure(status: string, code: unknown, message: unknown): Report {
  const failure = { code: readId(code) ?? status, message: readText(message) ?? DEFAULT_FAILURE };
  return { phase: 'failed', status, failure };
}

/** `message`: the words of the upstream, if it gave any. */
export function toContentFailure(status: string, message?: unknown): Report {
  const { code, message: otherwise } = CONTENT_REJECTED;
  return { phase: 'failed', status, failure: { code, message: readText(message) ?? otherwise } };
}

/** The members that name the reason of a failure, and those that say other things of other work too. */
const REASONS: readonly string[] = [
  ...['error', 'errors', 'failure', 'fail_reason', 'failReason', 'failure_reason', 'failureReason', 'fail_msg'],
  ...['failMsg', 'fail_message', 'failure_message', 'error_message', 'errorMessage', 'error_msg', 'errorMsg'],
  ...['err_msg', 'errMsg', 'error_detail', 'err_detail', 'last_error', 'task_status_msg', 'status_msg'],
];
const SAYINGS: readonly string[] = [
  ...['message', 'msg', 'detail', 'details', 'reason', 'description', 'status_message', 'statusMessage', 'title'],
];
const CODES: readonly string[] = [
  ...['error_code', 'errorCode', 'err_code', 'errCode', 'fail_code', 'failCode', 'failure_code', 'failureCode'],
];
/** The parts of an answer that can hold the failed work. */
const PARTS = ['data', 'task', 'output', 'result', 'response', 'metadata', 'base_resp', 'task_result'];
const NO_REASON = /^(?:ok|success|succeed|succeeded|successful|none|null|undefined|n\/a|\[object object\])?$/i;
const REASON_DEPTH_MAX = 5;
const REASONS_MAX = 8;

/**
 * The error that a body or a part of it names: a text, an object or the first of a list, under any of the names that
 * upstreams give it. Undefined if there are no words.
 */
export function findError(value: unknown, depth = REASON_DEPTH_MAX): ApiError | undefined {
  const words = readText(value)?.trim() ?? '';
  if (!NO_REASON.test(words)) return { message: words };
  if (depth === 0) return undefined;
  if (Array.isArray(value)) return findFirstError(value.slice(0, REASONS_MAX), depth);
  const members = readObject(value);
  const pick = (names: readonly string[]): readonly unknown[] => names.map((name) => members[name]);
  const parts = pick(PARTS).filter((part) => typeof part === 'object');
  const error = findFirstError(pick(REASONS), depth) ?? findFirstError(parts, depth);
  const [code] = pick(CODES).flatMap((one) => readId(one) ?? []);
  if (error !== undefined) return { code, ...error };
  const said = findFirstError(pick(SAYINGS), depth);
  return said === undefined ? undefined : { code: code ?? readId(members['code']), ...said };
}

function findFirstError(values: readonly unknown[], depth: number): ApiError | undefined {
  for (const value of values) {
    const error = value === undefined ? undefined : findError(value, depth - 1);
    if (error !== undefined) return error;
  }
  return undefined;
}

/** A code that only repeats that the work failed. */
const NO_CODE = /^(?:failed|failure|fail|error)$/i;

function withReason(report: Report, work: Json): Report {
  if (report.phase !== 'failed' || report.failure.message !== DEFAULT_FAILURE) return report;
  const error = findError(work);
  if (error === undefined) return report;
  const { code } = report.failure;
  return { ...report, failure: { code: NO_CODE.test(code) ? (error.code ?? code) : code, message: error.message } };
}

/** The report with the time at which the work ended, if it has. */
export function withEndTime(report: Report, endedAt: number | undefined): Report {
  const hasEnded = report.phase === 'succeeded' || report.phase === 'failed';
  return hasEnded && endedAt !== undefined ? { ...report, endedAt } : report;
}

/** The result of a poll without a report. */
export function toNothingFound(
  { status, body }: UpstreamAnswer,
  error: ApiError | undefined = findError(readObject(body)),
  gone = status === 404,
): PollResult {
  return { found: false, gone, error: error?.message ?? `HTTP ${status} without a task` };
}

const PAGES_MAX = 25;

/** A list in pages. A page is requested by its number, from 1, and by the successor that the page before named. */
export interface PagedList<W extends ListedWork = ListedWork> {
  readonly build: (page: { readonly number: number; readonly after: string }) => UpstreamRequest;
  /**
   * Reads a page. `after` is the reference to the next page, absent in numbered lists and empty after the last page.
   */
  readonly read: (body: Json) => {
    readonly items: unknown;
    readonly total?: unknown;
    readonly after?: string | undefined;
  };
  readonly toWork: (item: unknown) => W;
  /** Reports whether a page shows that only older work follows. Default: one of its works is older. */
  readonly isLast?: (page: readonly ListedWork[], since: number) => boolean;
}

/** Reads pages until the last. An unreadable page or too many pages fail the whole list. */
export function* listPages<W extends ListedWork = ListedWork>(
  since: number,
  { build, read, toWork, isLast = holdsOlder }: PagedList<W>,
): Steps<readonly W[] | undefined> {
  const works: W[] = [];
  let [seen, after] = [0, ''];
  for (let number = 1; number <= PAGES_MAX; number += 1) {
    const answer: UpstreamAnswer = yield build({ number, after });
    const page = read(readObject(answer.body));
    if (answer.status !== 200 || !Array.isArray(page.items)) return undefined;
    const listed = page.items.map(toWork);
    seen += listed.length;
    works.push(...listed.filter(({ upstreamId, createdAt }) => upstreamId !== '' && createdAt >= since));
    if (listed.length === 0 || page.after === '' || seen === page.total || isLast(listed, since)) return works;
    after = page.after ?? '';
  }
  return undefined;
}

function holdsOlder(page: readonly ListedWork[], since: number): boolean {
  return page.some(({ createdAt }) => createdAt < since);
}

/** The texts of an order as one prompt. */
export function joinTexts(content: readonly AttemptItem[]): string {
  let joined: string | undefined;
  for (const item of content) if ('text' in item) joined = joined === undefined ? item.text : `${joined}\n${item.text}`;
  return joined ?? '';
}

/** The texts of an order as one prompt; undefined if they are empty. */
export function toPrompt(content: readonly AttemptItem[]): string | undefined {
  const prompt = joinTexts(content);
  return prompt === '' ? undefined : prompt;
}

export function listMedia(content: readonly AttemptItem[]): readonly AttemptMedia[] {
  return content.filter((item) => 'media' in item);
}

/** The media of an order by their use. */
export interface OrderMedia {
  readonly first: string | undefined;
  readonly last: string | undefined;
  readonly images: readonly string[];
  readonly videos: readonly string[];
  readonly audios: readonly string[];
  readonly base: string | undefined;
}

const NONE: readonly string[] = Object.freeze([]);
/** The media of an order of texts alone, which most orders are. */
const NO_MEDIA: OrderMedia = Object.freeze({
  first: undefined,
  last: undefined,
  images: NONE,
  videos: NONE,
  audios: NONE,
  base: undefined,
});

export function sortMedia(content: readonly AttemptItem[]): OrderMedia {
  const media = listMedia(content);
  if (media.length === 0) return NO_MEDIA;
  const urls: Record<Role, string[]> = {
    first_frame: [],
    last_frame: [],
    reference_image: [],
    reference_video: [],
    reference_audio: [],
    base_video: [],
  };
  for (const { role, url } of media) if (role !== undefined) urls[role].push(url);
  return {
    first: urls.first_frame[0],
    last: urls.last_frame[0],
    images: urls.reference_image,
    videos: urls.reference_video,
    audios: urls.reference_audio,
    base: urls.base_video[0],
  };
}

/** The limits of a model of an upstream. An absent member is not checked: the upstream decides. */
export interface ModelRow {
  /** The lengths in seconds: a list, or the least and the most. */
  readonly seconds?: readonly number[] | { readonly least: number; readonly most: number } | undefined;
  /** Compared without regard to case. */
  readonly resolutions?: readonly string[] | undefined;
  readonly ratios?: readonly string[] | undefined;
  /** By default there are no options. */
  readonly frames?: 'none' | 'first' | 'first and last' | undefined;
  /** True if the order must have a first frame. */
  readonly needsFrame?: boolean | undefined;
  /** The most references of each kind. Default: 0. */
  readonly images?: number | undefined;
  readonly videos?: number | undefined;
  readonly audios?: number | undefined;
  /** True if frames and references may stand together. */
  readonly mixes?: boolean | undefined;
  /** True if the model accepts no ratio next to a frame, because the frame decides. A ratio is then left out. */
  readonly ratioFollowsFrame?: boolean | undefined;
  /** The most characters of the prompt. */
  readonly promptMax?: number | undefined;
}

/** The JSON Schema of a `ModelRow`, for adapters with models that operators extend. */
export const MODEL_ROW_SCHEMA: Json = {
  type: 'object',
  additionalProperties: false,
  properties: {
    seconds: {
      oneOf: [
        { type: 'array', items: { type: 'integer', minimum: 1 }, minItems: 1 },
        {
          type: 'object',
          additionalProperties: false,
          required: ['least', 'most'],
          properties: { least: { type: 'integer', minimum: 1 }, most: { type: 'integer', minimum: 1 } },
        },
      ],
    },
    resolutions: { type: 'array', items: { type: 'string' } },
    ratios: { type: 'array', items: { type: 'string' } },
    frames: { enum: ['none', 'first', 'first and last'] },
    needsFrame: { type: 'boolean' },
    images: { type: 'integer', minimum: 0 },
    videos: { type: 'integer', minimum: 0 },
    audios: { type: 'integer', minimum: 0 },
    mixes: { type: 'boolean' },
    ratioFollowsFrame: { type: 'boolean' },
    promptMax: { type: 'integer', minimum: 1 },
  },
};

/** Returns the JSON Schema of a `ModelRow` with further members. */
export function extendRowSchema(members: Json, required?: readonly string[]): Json {
  const properties = { ...readObject(MODEL_ROW_SCHEMA['properties']), ...members };
  return { ...MODEL_ROW_SCHEMA, ...(required && { required }), properties };
}

/** Returns the JSON Schema of `options` of a channel: rows of further models, or other rows of known ones, by their ids. */
export function buildModelOptions(row: Json, others: Json = {}): Json {
  const models = { type: 'object', additionalProperties: row };
  return { type: 'object', additionalProperties: false, properties: { models, ...others } };
}

/** Returns the rows of known models, with the rows of the `options` of a channel. */
export function mergeModels<Row>(known: Readonly<Record<string, Row>>, options: Json): Readonly<Record<string, Row>> {
  return { ...known, ...(options['models'] as Readonly<Record<string, Row>> | undefined) };
}

/** Returns the row of a model; undefined if there is no row of this id. */
export function findModel<Row>(models: Readonly<Record<string, Row>>, id: string): Row | undefined {
  return Object.hasOwn(models, id) ? models[id] : undefined;
}

/** Returns the list; undefined if it is empty. */
export function toFilledList<T>(items: readonly T[]): readonly T[] | undefined {
  return items.length === 0 ? undefined : items;
}

/** Returns the reason why a model cannot express an order; undefined if it can. Nothing is ever left out silently. */
export function findUnfit(row: ModelRow, attempt: Attempt): string | undefined {
  const media = sortMedia(attempt.content);
  return describeUnfitMedia(row, attempt, media) ?? describeUnfitFrame(row, attempt, media);
}

function describeUnfitMedia(row: ModelRow, { content }: Attempt, media: OrderMedia): string | undefined {
  const { frames = 'none', images = 0, videos = 0, audios = 0, mixes = false, needsFrame = false } = row;
  const hasFrame = media.first !== undefined || media.last !== undefined;
  const references = media.images.length + media.videos.length + media.audios.length;
  if (hasFrame && frames === 'none') return 'takes no frames';
  if (media.last !== undefined && frames !== 'first and last') return 'takes no last frame';
  if (media.last !== undefined && media.first === undefined) return 'takes no last frame without a first one';
  if (needsFrame && media.first === undefined) return 'needs a first frame';
  if (media.base !== undefined) return 'takes no base video';
  if (media.images.length > images) return `takes at most ${images} reference images`;
  if (media.videos.length > videos) return `takes at most ${videos} reference videos`;
  if (media.audios.length > audios) return `takes at most ${audios} reference audios`;
  if (hasFrame && references > 0 && !mixes) return 'takes frames or references, not both';
  if (row.promptMax !== undefined && isLonger(joinTexts(content), row.promptMax))
    return `takes at most ${row.promptMax} characters of text`;
  return undefined;
}

/** Reports whether a text has more characters. Only a text with more code units can, and those are known. */
function isLonger(text: string, charactersMax: number): boolean {
  return text.length > charactersMax && [...text].length > charactersMax;
}

function describeUnfitFrame(row: ModelRow, attempt: Attempt, media: OrderMedia): string | undefined {
  const { seconds, resolutions, ratios, ratioFollowsFrame = false } = row;
  const { duration, resolution, ratio } = attempt;
  if (duration !== undefined && seconds !== undefined && !isLength(seconds, duration))
    return `makes no video of ${duration} seconds`;
  if (resolution !== undefined && resolutions !== undefined && !includesWord(resolutions, resolution))
    return `makes no ${resolution}`;
  const isRatioUsed = ratio !== undefined && ratio !== 'adaptive' && !(ratioFollowsFrame && media.first !== undefined);
  if (isRatioUsed && ratios !== undefined && !ratios.includes(ratio)) return `makes no ${ratio}`;
  return undefined;
}

function isLength(seconds: NonNullable<ModelRow['seconds']>, duration: number): boolean {
  return 'least' in seconds ? duration >= seconds.least && duration <= seconds.most : seconds.includes(duration);
}

function includesWord(words: readonly string[], word: string): boolean {
  return words.some((one) => one.toLowerCase() === word.toLowerCase());
}

/** The type and the Base64 text of a data URL; undefined for any other URL. */
export function parseDataUrl(url: string): { readonly type: string; readonly base64: string } | undefined {
  const [head, type = ''] = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64});base64,/.exec(url) ?? [];
  return head === undefined ? undefined : { type, base64: url.slice(head.length) };
}
