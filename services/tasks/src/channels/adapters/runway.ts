import type { Clock } from '@reelgate/platform/clock';
import type { Report } from '../../domain/report.ts';
import type { Failure } from '../../domain/task.ts';
import type { Adapter } from '../adapter.ts';
import type { Attempt, Channel, ChannelSettings, PollResult, Submission } from '../channel.ts';
import { readObject, readText } from '../json-fields.ts';
import type { Json } from '../json-fields.ts';
import { toSubmission, upstreamHttp } from '../upstream-http.ts';
import type { UpstreamAnswer, UpstreamHttp } from '../upstream-http.ts';
import type { WholeAnswer } from '../upstream-exchange.ts';
import { toUpstreamRequest } from './runway.body.ts';

const DEFAULT_FAILURE = 'the generator ended the task without a result';
const MODERATED: Failure = { code: 'content_rejected', message: 'the generator refused the content' };
const REPORTS: Readonly<Record<string, (task: Json, status: string) => Report>> = {
  PENDING: (_task, status) => ({ phase: 'queued', status }),
  THROTTLED: (_task, status) => ({ phase: 'queued', status }),
  RUNNING: (task, status) => ({ phase: 'running', status, progress: toPercent(task['progress']) }),
  SUCCEEDED: (task, status) => ({ phase: 'succeeded', status, url: readFirstUrl(task['output']) }),
  FAILED: (task, status) => ({ phase: 'failed', status, failure: readFailure(task) }),
  CANCELLED: (_task, status) => ({ phase: 'failed', status, failure: { code: 'cancelled', message: DEFAULT_FAILURE } }),
};

const API_VERSION = '2024-11-06';
const TASKS = '/v1/tasks';
const ORGANIZATION = '/v1/organization';
/** The API answers an account without credits with 400, like a fault of the order. */
const NO_CREDITS = /enough credits/i;

/**
 * The Runway API. Sources: the official SDK (npm @runwayml/sdk 4.20.1: client, resources/text-to-video, image-to-video,
 * tasks, organization) for routes, bodies, models, status words and the version header; docs.dev.runwayml.com
 * (api-details/errors, errors/task-failures, errors/troubleshooting, usage/tiers) for errors and failure codes; issue
 * 28 of runwayml/sdk-node for the message of an account without credits. Tested against recorded shapes only, not
 * against a live upstream. The API has no list, so a person must search for the work of a lost answer.
 */
export const runway: Adapter = { endpoints: ['video.generation'], openChannel };

function openChannel(settings: ChannelSettings, clock: Clock): Channel {
  const http = upstreamHttp({ baseUrl: settings.baseUrl, clock }, () => ({
    authorization: `Bearer ${settings.apiKey.reveal()}`,
    accept: 'application/json',
    'x-runway-version': API_VERSION,
  }));
  const { pollTimeoutMs, submitTimeoutMs } = settings;
  const get = (path: string, signal: AbortSignal): Promise<UpstreamAnswer> =>
    http.call({ method: 'GET', path, timeoutMs: pollTimeoutMs }, signal);
  return {
    settings,
    submit: (attempt, signal) => submit(http, { attempt, timeoutMs: submitTimeoutMs }, signal),
    poll: async (upstreamId, signal) => toPollResult(await get(buildTaskPath(upstreamId), signal)),
    list: async () => undefined,
    cancel: (upstreamId, signal) =>
      cancelIfQueued(http, { path: buildTaskPath(upstreamId), timeoutMs: pollTimeoutMs }, signal),
    test: async (signal) => {
      const answer = await get(ORGANIZATION, signal);
      if (answer.kind !== 'answer') return { ok: false, detail: answer.error };
      if (answer.status === 200 && typeof readObject(answer.body)['creditBalance'] === 'number')
        return { ok: true, detail: 'the organization was read' };
      return { ok: false, detail: readText(readObject(answer.body)['error']) ?? `HTTP ${answer.status}` };
    },
    close: () => http.close(),
  };
}

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

async function submit(
  http: UpstreamHttp,
  { attempt, timeoutMs }: { readonly attempt: Attempt; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<Submission> {
  const request = toUpstreamRequest(attempt);
  if ('unfit' in request) return { outcome: 'refused', fault: 'unfit', error: request.unfit };
  return toSubmission(await http.call({ method: 'POST', ...request, timeoutMs }, signal), readOutcome);
}

function readOutcome({ status, body, retryAfterMs }: WholeAnswer): Submission {
  const upstreamId = readText(readObject(body)['id']);
  if (status >= 200 && status < 300 && upstreamId !== undefined) return { outcome: 'accepted', upstreamId };
  const error = readText(readObject(body)['error']);
  const said = `HTTP ${status}: ${error ?? 'no readable answer'}`;
  return isRefusal(status, error)
    ? { outcome: 'refused', fault: classifyRefusal(status, error), error: said, retryAfterMs }
    : { outcome: 'unknown', error: said };
}

/** The reference calls 502 and 503 load shedding. A 502 that is not in the format of the API can come from a proxy. */
function isRefusal(status: number, error: string | undefined): boolean {
  return status === 503 || (status === 502 && error !== undefined) || (status >= 400 && status < 500 && status !== 408);
}

function classifyRefusal(status: number, error = ''): 'channel' | 'throttle' | 'order' {
  if (status === 429) return 'throttle';
  return (status === 400 && !NO_CREDITS.test(error)) || status === 413 || status === 422 ? 'order' : 'channel';
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  if (answer.kind !== 'answer') return { found: false, gone: false, error: answer.error };
  const task = readObject(answer.body);
  if (answer.status === 200 && typeof task['status'] === 'string') return { found: true, report: toReport(task) };
  return {
    found: false,
    gone: answer.status === 404,
    error: readText(task['error']) ?? `HTTP ${answer.status} without a task`,
  };
}

/** DELETE cancels unfinished work, but deletes ended work. It is sent only if the work is seen to wait. */
async function cancelIfQueued(
  http: UpstreamHttp,
  at: { readonly path: string; readonly timeoutMs: number },
  signal: AbortSignal,
): Promise<boolean> {
  const seen = toPollResult(await http.call({ method: 'GET', ...at }, signal));
  if (!seen.found || seen.report.phase !== 'queued') return false;
  const done = await http.call({ method: 'DELETE', ...at }, signal);
  return done.kind === 'answer' && done.status >= 200 && done.status < 300;
}

/** Converts a task into a report. The credits that it cost are not a usage that this service charges. */
function toReport(task: Json): Report {
  const status = String(task['status']);
  const known = Object.hasOwn(REPORTS, status) ? REPORTS[status] : undefined;
  return known === undefined ? { phase: 'unrecognised', status } : known(task, status);
}

/** A fraction from 0 to 1. */
function toPercent(value: unknown): number | undefined {
  return typeof value === 'number' && value >= 0 && value < 1 ? Math.floor(value * 100) : undefined;
}

function readFirstUrl(output: unknown): string | undefined {
  return Array.isArray(output) ? readText(output[0]) : undefined;
}

/** The reference asks not to show moderation codes to users, because they can name the wrong input. */
function readFailure(task: Json): Failure {
  const code = readText(task['failureCode']);
  if (code !== undefined && /(^|\.)SAFETY(\.|$)/.test(code)) return MODERATED;
  return { code: code ?? 'failed', message: readText(task['failure']) ?? DEFAULT_FAILURE };
}
