import type { Clock } from '@reelgate/platform/clock';
import { Secret } from '@reelgate/platform/secret';
import type { Adapter } from '../adapter.ts';
import type { Attempt, Channel, ChannelSettings, ListedWork, PollResult, Submission } from '../channel.ts';
import { flagExtra, numberExtra, textExtra, wholeExtra } from '../extra-fields.ts';
import type { ExtraFields } from '../extra-fields.ts';
import { readObject, readText } from '../json-fields.ts';
import type { WholeAnswer } from '../upstream-exchange.ts';
import { toSubmission, upstreamHttp } from '../upstream-http.ts';
import type { UpstreamAnswer } from '../upstream-http.ts';
import { classifyRefusal, readError } from './openai-videos.errors.ts';
import { formSender } from './openai-videos.form.ts';
import { toListedWork, toReport } from './openai-videos.report.ts';
import { formatSize } from './openai-videos.size.ts';

const DATA_URL = /^data:([\w.+-]{1,64}\/[\w.+-]{1,64});base64,/;

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
  seed: wholeExtra(-1, SEED_MAX),
  style: textExtra(STYLE_MAX),
  negative_prompt: textExtra(NEGATIVE_PROMPT_MAX),
  user: textExtra(USER_MAX),
  guidance_scale: numberExtra(0, GUIDANCE_MAX),
  cfg_scale: numberExtra(0, GUIDANCE_MAX),
  prompt_optimizer: flagExtra,
  prompt_extend: flagExtra,
  camera_fixed: flagExtra,
  watermark: flagExtra,
  aigc_watermark: flagExtra,
};

const VIDEOS = '/v1/videos';
const MODELS = '/v1/models';
const LIST_PAGE = 100;
const LIST_PAGES_MAX = 25;

/**
 * Any gateway that speaks the OpenAI videos API, including this one, so gateways can be chained. Sources: `openai` (npm
 * 7.55.0, resources/videos) and vendor contract §12–13. Gateways add `video_url`, `metadata.url`, `usage` and the
 * cancel route; they are used if they exist. Tested against recorded shapes only, not against a live upstream.
 */
export const openaiVideos: Adapter = {
  endpoints: ['video.generation'],
  extraFields: OPENAI_VIDEOS_EXTRA,
  openChannel,
};

function openChannel(settings: ChannelSettings, clock: Clock): Channel {
  const headers = (): Readonly<Record<string, string>> => ({
    authorization: `Bearer ${settings.apiKey.reveal()}`,
    accept: 'application/json',
  });
  const http = upstreamHttp({ baseUrl: settings.baseUrl, clock }, headers);
  const forms = formSender({ baseUrl: settings.baseUrl, clock, timeoutMs: settings.submitTimeoutMs }, headers);
  const get = (path: string, signal: AbortSignal): Promise<UpstreamAnswer> =>
    http.call({ method: 'GET', path, timeoutMs: settings.pollTimeoutMs }, signal);
  return {
    settings,
    submit: async (attempt, signal) => submit({ http, forms, settings }, attempt, signal),
    poll: async (upstreamId, signal) =>
      withContentUrl(
        toPollResult(await get(`${VIDEOS}/${encodeURIComponent(upstreamId)}`, signal)),
        settings,
        upstreamId,
      ),
    list: (since, signal) =>
      listSince(since, (after) =>
        get(
          `${VIDEOS}?limit=${LIST_PAGE}&order=desc${after === '' ? '' : `&after=${encodeURIComponent(after)}`}`,
          signal,
        ),
      ),
    cancel: async (upstreamId, signal) =>
      isCancelled(
        await http.call(
          {
            method: 'POST',
            path: `${VIDEOS}/${encodeURIComponent(upstreamId)}/cancel`,
            timeoutMs: settings.pollTimeoutMs,
          },
          signal,
        ),
      ),
    test: async (signal) => {
      const answer = await get(MODELS, signal);
      if (answer.kind !== 'answer') return { ok: false, detail: answer.error };
      if (answer.status === 200 && Array.isArray(readObject(answer.body)['data']))
        return { ok: true, detail: 'the models were read' };
      return { ok: false, detail: readError(answer.body)?.message ?? `HTTP ${answer.status}` };
    },
    close: async () => {
      await Promise.all([http.close(), forms.close()]);
    },
  };
}

interface Connections {
  readonly http: ReturnType<typeof upstreamHttp>;
  readonly forms: ReturnType<typeof formSender>;
  readonly settings: ChannelSettings;
}

async function submit(
  { http, forms, settings }: Connections,
  attempt: Attempt,
  signal: AbortSignal,
): Promise<Submission> {
  const request = toUpstreamRequest(attempt);
  if ('unfit' in request) return { outcome: 'refused', fault: 'unfit', error: request.unfit };
  if ('form' in request) return toSubmission(await forms.post(VIDEOS, request.form, signal), readOutcome);
  return toSubmission(
    await http.call({ method: 'POST', path: VIDEOS, body: request.json, timeoutMs: settings.submitTimeoutMs }, signal),
    readOutcome,
  );
}

function readOutcome({ status, body, retryAfterMs }: WholeAnswer): Submission {
  const upstreamId = readText(readObject(body)['id']) ?? readText(readObject(body)['task_id']);
  if (isSuccess(status) && upstreamId !== undefined) return { outcome: 'accepted', upstreamId };
  const error = readError(body);
  const said = `HTTP ${status}: ${error?.message ?? 'no readable answer'}`;
  const refused = isRefusal(status) || (isSuccess(status) && error !== undefined);
  return refused
    ? { outcome: 'refused', fault: classifyRefusal(status, error), error: said, retryAfterMs }
    : { outcome: 'unknown', error: said };
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** A status that a server sends before it accepts work. A gateway that fails with 500 may have passed the order on. */
function isRefusal(status: number): boolean {
  return status === 501 || status === 503 || (status >= 400 && status < 500 && status !== 408);
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  if (answer.kind !== 'answer') return { found: false, gone: false, error: answer.error };
  const video = readObject(answer.body);
  if (answer.status === 200 && typeof video['status'] === 'string') return { found: true, report: toReport(video) };
  return {
    found: false,
    gone: answer.status === 404,
    error: readError(answer.body)?.message ?? `HTTP ${answer.status} without a video`,
  };
}

/** If the report has no URL, the video is read from its content route, which requires the credential. */
function withContentUrl(polled: PollResult, { baseUrl, apiKey }: ChannelSettings, upstreamId: string): PollResult {
  if (!polled.found || polled.report.phase !== 'succeeded' || polled.report.url !== undefined) return polled;
  const url = `${baseUrl.replace(/\/$/, '')}${VIDEOS}/${encodeURIComponent(upstreamId)}/content`;
  return { found: true, report: { ...polled.report, url, credential: new Secret(`Bearer ${apiKey.reveal()}`) } };
}

function isCancelled(answer: UpstreamAnswer): boolean {
  if (answer.kind !== 'answer' || !isSuccess(answer.status)) return false;
  const { status, error } = readObject(answer.body);
  return (
    status === 'cancelled' ||
    status === 'canceled' ||
    (status === 'failed' && readObject(error)['code'] === 'cancelled')
  );
}

/** Reads pages until one holds older work or is the last. An unreadable page makes the whole list unreadable. */
async function listSince(
  since: number,
  page: (after: string) => Promise<UpstreamAnswer>,
): Promise<readonly ListedWork[] | undefined> {
  const works: ListedWork[] = [];
  let after = '';
  for (let number = 0; number < LIST_PAGES_MAX; number += 1) {
    const answer = await page(after);
    if (answer.kind !== 'answer' || answer.status !== 200) return undefined;
    const { data, has_more: hasMore, last_id: lastId } = readObject(answer.body);
    if (!Array.isArray(data)) return undefined;
    const read = data.map(toListedWork);
    works.push(...read.filter(({ upstreamId, createdAt }) => upstreamId !== '' && createdAt >= since));
    if (hasMore !== true || read.some(({ createdAt }) => createdAt < since)) return works;
    after = readText(lastId) ?? read.at(-1)?.upstreamId ?? '';
    if (after === '') return undefined;
  }
  return undefined;
}

/** JSON, or a form if a file is sent; `unfit` if the API cannot express the order. */
type VideoRequest = { readonly json: object } | { readonly form: FormData } | { readonly unfit: string };

function toUpstreamRequest({ model, order, content, extra }: Attempt): VideoRequest {
  const media = content.flatMap((item) => ('media' in item ? [item] : []));
  const [frame, second] = media;
  if (second !== undefined || (frame !== undefined && frame.role !== 'first_frame'))
    return { unfit: 'the videos API takes one first frame and no other media' };
  const size = formatSize(order);
  const fields = {
    ...extra,
    model,
    prompt: content.flatMap((item) => ('text' in item ? [item.text] : [])).join('\n'),
    ...(order.duration === undefined ? {} : { seconds: String(order.duration) }),
    ...(size === undefined ? {} : { size }),
  };
  if (frame === undefined) return { json: fields };
  const type = DATA_URL.exec(frame.url);
  return type === null
    ? { json: { ...fields, input_reference: { image_url: frame.url } } }
    : { form: buildForm(fields, { type: type[1] ?? '', base64: frame.url.slice(type[0].length) }) };
}

function buildForm(
  fields: Readonly<Record<string, unknown>>,
  { type, base64 }: { readonly type: string; readonly base64: string },
): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields))
    form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  form.append(
    'input_reference',
    new Blob([Buffer.from(base64, 'base64')], { type }),
    `first_frame.${type.replace(/^.*\//, '')}`,
  );
  return form;
}
