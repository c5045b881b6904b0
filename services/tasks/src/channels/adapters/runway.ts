import type {
  Adapter,
  Attempt,
  AttemptMedia,
  PollResult,
  Steps,
  UpstreamAnswer,
  UpstreamRequest,
} from '@reelgate/adapter-kit';
import {
  findModel,
  findUnfit,
  isSuccess,
  listMedia,
  mergeModels,
  readId,
  readObject,
  readReport,
  readText,
  toContentFailure,
  toFailure,
  toFields,
  toNothingFound,
  toPrompt,
  toSubmission,
} from '@reelgate/adapter-kit/kit';
import type { ApiError, ErrorTable, Reports } from '@reelgate/adapter-kit/kit';
import { choosePixels, RUNWAY_EXTRA, RUNWAY_MODELS, RUNWAY_OPTIONS } from './runway.models.ts';
import type { RunwayModel } from './runway.models.ts';

const REPORTS: Reports = {
  PENDING: (_task, status) => ({ phase: 'queued', status }),
  THROTTLED: (_task, status) => ({ phase: 'queued', status }),
  RUNNING: (task, status) => ({ phase: 'running', status, progress: toPercent(task['progress']) }),
  SUCCEEDED: (task, status) => ({ phase: 'succeeded', status, url: readFirstUrl(task['output']) }),
  // The reference asks not to show moderation codes to users, because they can name the wrong input.
  FAILED: (task, status) =>
    /(^|\.)SAFETY(\.|$)/.test(readText(task['failureCode']) ?? '')
      ? toContentFailure(status)
      : toFailure(status, readText(task['failureCode']) ?? 'failed', task['failure']),
  CANCELLED: (_task, status) => toFailure(status, 'cancelled', undefined),
};

const API_VERSION = '2024-11-06';
const TASKS = '/v1/tasks';
const ORGANIZATION = '/v1/organization';
/** The API answers an account without credits with 400, like a fault of the order. 502 and 503 shed load. */
const ERRORS: ErrorTable = {
  patterns: [[/enough credits/i, 'credential', 'message']],
  statuses: { 502: 'channel' },
};

const POSITIONS: Readonly<Record<string, 'first' | 'last'>> = { first_frame: 'first', last_frame: 'last' };

/**
 * The Runway API. Sources: the official SDK (npm @runwayml/sdk 4.20.1: client, resources/text-to-video, image-to-video,
 * tasks, organization) for routes, bodies, models, status words and the version header; docs.dev.runwayml.com
 * (api-details/errors, errors/task-failures, errors/troubleshooting, usage/tiers) for errors and failure codes; issue
 * 28 of runwayml/sdk-node for the message of an account without credits. Tested against recorded shapes only, not
 * against a live upstream. The API has no list, so a person must search for the work of a lost answer.
 */
export const runway: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  headers: { 'x-runway-version': API_VERSION },
  extraFields: RUNWAY_EXTRA,
  options: RUNWAY_OPTIONS,
  openCalls: ({ options }) => {
    const models = mergeModels(RUNWAY_MODELS, options);
    return {
      listExtra: ({ model }) => findModel(models, model)?.extra ?? [],
      buildSubmit: (attempt) => buildRunwaySubmit(models, attempt),
      readSubmit: (answer) => {
        const error = readError(answer.body);
        return toSubmission(answer, {
          upstreamId: readId(readObject(answer.body)['id']),
          error,
          // A 502 that is not in the format of the API can come from a proxy.
          table: error === undefined ? { ...ERRORS, statuses: {} } : ERRORS,
        });
      },
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: buildTaskPath(upstreamId) });
      },
      cancel: cancelIfQueued,
      *test() {
        const { status, body } = yield { method: 'GET', path: ORGANIZATION };
        return status === 200 && typeof readObject(body)['creditBalance'] === 'number'
          ? { ok: true, detail: 'the organization was read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

function readError(body: unknown): ApiError | undefined {
  const message = readText(readObject(body)['error']);
  return message === undefined ? undefined : { message };
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const task = readObject(answer.body);
  return answer.status === 200 && typeof task['status'] === 'string'
    ? { found: true, report: readReport(REPORTS, task, task['status']) }
    : toNothingFound(answer, readError(answer.body));
}

/** DELETE cancels unfinished work, but deletes ended work. It is sent only if the work is seen to wait. */
function* cancelIfQueued(upstreamId: string): Steps<boolean> {
  const path = buildTaskPath(upstreamId);
  const seen = toPollResult(yield { method: 'GET', path });
  if (!seen.found || seen.report.phase !== 'queued') return false;
  const { status } = yield { method: 'DELETE', path };
  return isSuccess(status);
}

/** A fraction from 0 to 1. */
function toPercent(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1 ? Math.floor(value * 100) : undefined;
}

function readFirstUrl(output: unknown): string | undefined {
  return Array.isArray(output) ? readText(output[0]) : undefined;
}

/** Frames go to image_to_video, text and references to text_to_video. Nothing of an order is left out silently. */
function buildRunwaySubmit(
  models: Readonly<Record<string, RunwayModel>>,
  attempt: Attempt,
): UpstreamRequest | { readonly unfit: string } {
  const { model: id, content } = attempt;
  const model = findModel(models, id);
  if (model === undefined) return { unfit: `the model ${id} is unknown to this adapter` };
  const unfit = findUnfit(model, attempt);
  if (unfit !== undefined) return { unfit: `the model ${id} ${unfit}` };
  const media = listMedia(content);
  const frames = media.filter(({ role }) => POSITIONS[role ?? ''] !== undefined);
  const route = frames.length > 0 ? 'image' : 'text';
  const frame = toFrameFields(model, route, attempt);
  if (frame === undefined)
    return {
      unfit:
        `the model ${id} makes no ${route}_to_video ` +
        `of ${attempt.resolution ?? 'that resolution'} at ${attempt.ratio ?? 'that ratio'}`,
    };
  const json = {
    model: id,
    promptText: toPrompt(content),
    duration: attempt.duration,
    ...frame,
    ...toExtraFields(attempt),
    ...(media.length > 0 && toMediaFields(media, frames)),
  };
  return { method: 'POST', path: `/v1/${route}_to_video`, json };
}

function toExtraFields({ extra = {} }: Attempt): object {
  const { seed, generate_audio: audio, negative_prompt: negativePrompt, public_figure_threshold: level } = extra;
  return toFields({
    seed,
    audio,
    negativePrompt,
    contentModeration: level === undefined ? undefined : { publicFigureThreshold: level },
  });
}

function toFrameFields(
  model: RunwayModel,
  route: 'text' | 'image',
  { ratio, resolution }: Attempt,
): object | undefined {
  const pairs = model[route];
  if (pairs === undefined) return undefined;
  if (model.frame === 'pixels') {
    const pixels = choosePixels(pairs, ratio, resolution);
    return pixels === undefined ? undefined : { ratio: pixels };
  }
  const asked = resolution === undefined ? {} : { resolution: resolution.toLowerCase() };
  return model.frame === 'resolution' || ratio === undefined ? asked : { ratio, ...asked };
}

function toMediaFields(media: readonly AttemptMedia[], frames: readonly AttemptMedia[]): object {
  if (frames.length > 0)
    return { promptImage: frames.map(({ url, role }) => ({ uri: url, position: POSITIONS[role ?? ''] })) };
  const selectMedia = (kind: AttemptMedia['media']): readonly AttemptMedia[] =>
    media.filter((item) => item.media === kind);
  return {
    ...toListField(
      'references',
      selectMedia('image').map(({ url }) => ({ uri: url })),
    ),
    ...toListField(
      'referenceVideos',
      selectMedia('video').map(({ url }) => ({ type: 'video', uri: url })),
    ),
    ...toListField(
      'referenceAudio',
      selectMedia('audio').map(({ url }) => ({ type: 'audio', uri: url })),
    ),
  };
}

function toListField(name: string, items: readonly object[]): object {
  return items.length === 0 ? {} : { [name]: items };
}
