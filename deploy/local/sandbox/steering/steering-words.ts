import { steeredMsMax } from '../limits.ts';
import { plainScript, type Script } from './script.ts';
import type { Kind } from '../vendor-order.ts';

/**
 * A word that steers a task: its spelling, its explanation, and its change of the script. A word with an unreadable
 * argument is ignored.
 */
export type Word = { readonly written: string; readonly does: string; readonly change: Change };

type Change = (argument: string, script: Script) => Partial<Script> | undefined;

export const words: Readonly<Record<string, Word>> = {
  // the create
  refuse: word(
    '[refuse:422]',
    'refused; by HTTP status or by vendor code (`[refuse:1008]`), 400 when left out',
    applyNumber('400', (number) => ({ answer: { as: 'refusal', number } })),
  ),
  'refuse-once': word(
    '[refuse-once:429]',
    'refused the first time that this text comes (500 when left out), then accepted',
    applyNumber('500', (number) => ({ answer: { as: 'refusal_once', number } })),
  ),
  'base-resp': word(
    '[base-resp:1008]',
    'HTTP 200 with `base_resp.status_code`, no task',
    applyNumber('1008', (number) => ({ answer: { as: 'base_resp', number } })),
  ),
  html: word('[html]', 'HTTP 200 with an HTML page, no task', applyAlways({ answer: { as: 'page' } })),
  'no-id': word('[no-id]', 'HTTP 200 with `{}`, no task', applyAlways({ answer: { as: 'no_id' } })),
  hang: word('[hang]', 'accepted, and never answered', applyAlways({ answer: { as: 'silence' } })),
  reset: word(
    '[reset]',
    'accepted, then the connection is cut without an answer',
    applyAlways({ answer: { as: 'cut' } }),
  ),
  late: word(
    '[late:20s]',
    'accepted, answered that much later',
    applyTime((answerAfterMs) => ({ answerAfterMs })),
  ),
  'no-source-id': word(
    '[r:no-source-id]',
    'a regeneration by `source_task_id` is refused, as for an account that may not use it; by `content` it works',
    applyAlways({ sourceIdsAllowed: false }),
  ),

  // the task's life
  queue: word(
    '[queue:10s]',
    'stays queued that long',
    applyTime((queuedMs) => ({ queuedMs })),
  ),
  slow: word(
    '[slow:30s]',
    'stays running that long',
    applyTime((runningMs) => ({ runningMs })),
  ),
  never: word('[never]', 'runs for ever', applyAlways({ ending: { as: 'never' } })),
  fail: word(
    '[fail:1026]',
    'fails, with code 1027 when left out',
    applyNumber('1027', (code) => ({ ending: { as: 'failed', code: String(code) } })),
  ),
  cancelled: word('[cancelled]', 'ends as `cancelled`', applyAlways({ ending: { as: 'cancelled' } })),
  expired: word('[expired]', 'ends as `expired`', applyAlways({ ending: { as: 'expired' } })),
  unknown: word(
    '[unknown:paused]',
    'gets a status that no client knows, and keeps it',
    applyName((status) => ({ ending: { as: 'other', status } })),
  ),
  recover: word(
    '[recover:20s]',
    'with `[unknown:…]`: succeeds that long after its creation',
    applyTime((recoverAfterMs) => ({ recoverAfterMs })),
  ),

  // reading it
  'poll-error': word(
    '[poll-error:500x3]',
    'the first 3 reads are refused with 500',
    applyCount(({ number, times }) => ({ reads: { as: 'refusal', number, times } })),
  ),
  'poll-html': word(
    '[poll-html:2]',
    'the first 2 reads answer with an HTML page',
    applyNumber('1', (times) => ({ reads: { as: 'page', times } })),
  ),
  'poll-reset': word(
    '[poll-reset:2]',
    'the first 2 reads are cut off',
    applyNumber('1', (times) => ({ reads: { as: 'cut', times } })),
  ),
  'no-push': word('[no-push]', 'its callbacks are lost (the challenge is not)', applyAlways({ pushes: false })),

  // its result
  'no-usage': word('[no-usage]', 'succeeds with `usage: {}`', applyAlways({ usage: { told: false } })),
  seconds: word(
    '[seconds:3]',
    'reports that many seconds',
    applyNumber('', (seconds, { usage }) => ({ usage: { ...usage, seconds } })),
  ),
  tokens: word(
    '[tokens:500]',
    'reports that many tokens',
    applyNumber('', (tokens, { usage }) => ({ usage: { ...usage, tokens } })),
  ),
  'no-url': word('[no-url]', 'succeeds without a result', applyAlways({ result: 'absent' })),
  'dead-link': word('[dead-link]', 'the result link answers 404', applyAlways({ result: 'dead' })),
  'html-link': word('[html-link]', 'the result link answers with an HTML page', applyAlways({ result: 'page' })),
  'torn-link': word('[torn-link]', 'the result link breaks off half way', applyAlways({ result: 'torn' })),
};

function word(written: string, does: string, change: Change): Word {
  return { written, does, change };
}

function applyAlways(part: Partial<Script>): Change {
  return () => part;
}

function applyTime(part: (ms: number) => Partial<Script>): Change {
  return (argument) => {
    const ms = readTime(argument);
    return ms === undefined ? undefined : part(ms);
  };
}

function applyNumber(otherwise: string, part: (number: number, script: Script) => Partial<Script>): Change {
  return (argument, script) => {
    const number = readNumber(argument === '' ? otherwise : argument);
    return number === undefined ? undefined : part(number, script);
  };
}

function applyCount(part: (count: { readonly number: number; readonly times: number }) => Partial<Script>): Change {
  return (argument) => {
    const count = readNumberTimes(argument === '' ? '500' : argument);
    return count === undefined ? undefined : part(count);
  };
}

function applyName(part: (name: string) => Partial<Script>): Change {
  return (argument) => (/^[a-z_]{1,40}$/i.test(argument) ? part(argument) : undefined);
}

const unitMs: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 };

/** Reads `500ms`, `10s`, `2m` or `1h`. A number without a unit counts seconds. */
function readTime(argument: string): number | undefined {
  const [, amount, unit = 's'] = /^(\d{1,6})(ms|s|m|h)?$/.exec(argument) ?? [];
  const factor = unitMs[unit];
  return amount === undefined || factor === undefined ? undefined : Math.min(Number(amount) * factor, steeredMsMax);
}

function readNumber(argument: string): number | undefined {
  return /^\d{1,9}$/.test(argument) ? Number(argument) : undefined;
}

/** Reads `500x3`: the number, and how often it applies (once without `x`). */
function readNumberTimes(argument: string): { readonly number: number; readonly times: number } | undefined {
  const [, number, times = '1'] = /^(\d{1,4})(?:x(\d{1,4}))?$/.exec(argument) ?? [];
  return number === undefined ? undefined : { number: Number(number), times: Number(times) };
}

const bracketed = /\[(r:)?([a-z-]{1,20})(?::([^\]\s]{1,60}))?\]/gi;

/**
 * Reads the steering words in square brackets of a prompt. Words that begin with `r:` steer a regeneration, all others
 * steer the other kinds, because a regeneration by task id has its source's prompt. Other text in brackets is plain
 * prompt.
 */
export function steer(text: string, kind: Kind): Script {
  let script = plainScript;
  for (const [, prefix, name = '', argument = ''] of text.matchAll(bracketed)) {
    if ((prefix !== undefined) !== (kind === 'regeneration')) continue;
    const word = Object.hasOwn(words, name.toLowerCase()) ? words[name.toLowerCase()] : undefined;
    script = { ...script, ...word?.change(argument, script) };
  }
  return script;
}
