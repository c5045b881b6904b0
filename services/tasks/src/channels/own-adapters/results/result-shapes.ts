import type {
  FindOutcome,
  ListedWork,
  PollResult,
  Report,
  Submission,
  UpstreamRequest,
  Usage,
} from '@reelgate/adapter-kit';
import { readObject, readPercent, toUsage } from '@reelgate/adapter-kit/kit';
import { ASKED_WAIT_MS_MAX } from '@reelgate/platform/limits/read-asked-wait';
import { byWord, count, flag, list, longText, map, object, word, optional, record, text, time } from './shapes.ts';
import type { Shape } from './shapes.ts';

const HEADER_NAME = text(/^[A-Za-z0-9-]{1,64}$/, 'the name of a header');
const HEADER_VALUE = text(/^[\x20-\x7e]*$/, 'printable ASCII');
const PATH = text(/^\/[\x21-\x7e]*$/, 'a path that begins with / and has no spaces or control characters');
const STATUS = text();
const ERROR = text();
const ID = text(/^.+$/s, 'a text that is not empty');
const ACCEPTED = record({ outcome: word('accepted'), upstreamId: ID });
const KINDS = word('generation', 'regeneration', 'context_ir');

const formPart: Shape<NonNullable<UpstreamRequest['form']>[number]> = (value, at) =>
  readObject(value)['text'] === undefined
    ? record({ name: text(), fileName: text(), type: text(), base64: longText })(value, at)
    : record({ name: text(), text: longText })(value, at);

export const REQUEST: Shape<UpstreamRequest> = record({
  method: word('GET', 'POST', 'PUT', 'PATCH', 'DELETE'),
  path: PATH,
  host: optional(text()),
  headers: optional(map(HEADER_VALUE, HEADER_NAME)),
  json: optional(object),
  form: optional(list(formPart)),
});

const UNFIT = record({ unfit: text() });

export const ORDER_REQUEST: Shape<UpstreamRequest | { readonly unfit: string }> = (value, at) =>
  readObject(value)['unfit'] === undefined ? REQUEST(value, at) : UNFIT(value, at);

const wait: Shape<number | undefined> = (value, at) => {
  const ms = count(value, at);
  return ms && Math.min(ms, ASKED_WAIT_MS_MAX);
};

export const SUBMISSION: Shape<Submission> = byWord('outcome', {
  accepted: ACCEPTED,
  refused: record({
    outcome: word('refused'),
    fault: word('order', 'content', 'unfit', 'throttle', 'credential', 'channel'),
    error: ERROR,
    retryAfterMs: optional(wait),
  }),
  unknown: record({ outcome: word('unknown'), error: ERROR }),
});

const USAGE_NUMBERS = record({
  totalSeconds: optional(count),
  inputSeconds: optional(count),
  outputSeconds: optional(count),
  inputImageCount: optional(count),
  inputAudioSeconds: optional(count),
  totalTokens: optional(count),
  promptTokens: optional(count),
  completionTokens: optional(count),
});
const USAGE: Shape<Usage | undefined> = (value, at) => toUsage(USAGE_NUMBERS(value, at));

const percent: Shape<number | undefined> = (value, at) => readPercent(count(value, at));
const ENDED = { costMicroUsd: optional(count), endedAt: optional(time) };
const underWay = <const Phase extends 'queued' | 'running'>(phase: Phase): Shape<Report> =>
  record({ phase: word(phase), status: STATUS, progress: optional(percent) });

const REPORT: Shape<Report> = byWord('phase', {
  queued: underWay('queued'),
  running: underWay('running'),
  succeeded: record({
    phase: word('succeeded'),
    status: STATUS,
    url: optional(text()),
    needsKey: optional(flag),
    base64At: optional(text()),
    lastFrameUrl: optional(text()),
    urlDiesAt: optional(time),
    prompt: optional(longText),
    usage: optional(USAGE),
    ...ENDED,
  }),
  failed: record({
    phase: word('failed'),
    status: STATUS,
    failure: record({ code: text(), message: text() }),
    ...ENDED,
  }),
  unrecognised: record({ phase: word('unrecognised'), status: STATUS }),
});

const FOUND: Shape<PollResult> = (value, at) => ({ found: true, report: REPORT(readObject(value)['report'], at) });
const NOT_FOUND = record({ gone: flag, error: ERROR });

export const POLL_RESULT: Shape<PollResult> = (value, at) =>
  flag(readObject(value)['found'], `${at}.found`)
    ? FOUND(value, `${at}.report`)
    : { found: false, ...NOT_FOUND(value, at) };

export const POLL_RESULTS: Shape<Readonly<Record<string, PollResult>>> = map(POLL_RESULT);

export const FIND_OUTCOME: Shape<FindOutcome> = byWord('outcome', {
  accepted: ACCEPTED,
  'never arrived': record({ outcome: word('never arrived') }),
  'cannot know': record({ outcome: word('cannot know'), why: text() }),
});

const LISTED_WORK: Shape<ListedWork> = record({
  upstreamId: ID,
  kind: optional(KINDS),
  model: text(),
  duration: optional(count),
  resolution: optional(text()),
  ratio: optional(text()),
  createdAt: (value, at) => time(value, at) ?? 0,
});

export const LISTED_WORKS: Shape<readonly ListedWork[] | undefined> = optional(list(LISTED_WORK));

export const TESTED: Shape<{ readonly ok: boolean; readonly detail: string }> = record({ ok: flag, detail: text() });

export const CANCELLED: Shape<boolean> = flag;

/** A callback without an id has no effect. */
export const CALLBACK_ID: Shape<string | undefined> = optional(text());
