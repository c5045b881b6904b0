import { setTimeout as wait } from 'node:timers/promises';
import type { World } from '../world/world.ts';
import { call } from './call.ts';
import type { Answer } from './call.ts';
import { filled } from './filled.ts';
import { everyAnswerFault } from './every-answer.ts';
import { mismatch, show } from './matchers.ts';
import type { Expectation, Request, Row, Step } from './row.ts';

const ROW_TIMEOUT_MS = 240_000;
const UNTIL_TIMEOUT_MS = 40_000;
const UNTIL_PAUSE_MS = 100;
/** A whole window of a limit per minute. */
const RATE_PAUSE_MAX_S = 61;

/** Runs a row. Returns the first difference from the expectation, or undefined. */
export async function runRow(row: Row, world: World): Promise<string | undefined> {
  const kept = new Map<string, string>();
  const deadline = performance.now() + ROW_TIMEOUT_MS;
  try {
    for (const [index, each] of row.steps.entries()) {
      const fault =
        typeof each === 'function' ? await each(world, kept) : await runStep(each, { world, kept, deadline });
      if (fault !== undefined) return `${row.steps.length > 1 ? `step ${index + 1}: ` : ''}${fault}`;
    }
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

interface Run {
  readonly world: World;
  readonly kept: Map<string, string>;
  readonly deadline: number;
}

async function runStep({ request, expect, keep = {}, until = false }: Step, run: Run): Promise<string | undefined> {
  const find = async (name: string): Promise<string> => run.kept.get(name) ?? run.world.value(name);
  const asked = await filled(request, find);
  const expected = await filled(expect, find);
  const end = Math.min(run.deadline, performance.now() + UNTIL_TIMEOUT_MS);
  for (;;) {
    const answer = await sendWithinRate(asked, expected, run);
    const fault = everyAnswerFault(asked, answer, run.world.secrets) ?? faultOf(answer, expected);
    if (fault === undefined) return keepValues(answer, keep, run.kept);
    if (!until || performance.now() > end) return `${asked.method} ${asked.path}: ${fault}`;
    await wait(UNTIL_PAUSE_MS);
  }
}

/** Sends a request. If the token has reached its limit per minute, it repeats the request after the answer's delay. */
async function sendWithinRate(request: Request, expected: Expectation, { world, deadline }: Run): Promise<Answer> {
  for (;;) {
    const answer = await send(request, world);
    const pause = Number(answer.headers['retry-after']);
    const isLimited = answer.status === 429 && answer.text.includes('minute') && expected.status !== 429;
    if (!isLimited || !(pause <= RATE_PAUSE_MAX_S) || performance.now() + pause * 1000 > deadline) return answer;
    await wait(pause * 1000);
  }
}

export function send({ method, path, body, headers = {}, as = 'main' }: Request, world: World): Promise<Answer> {
  const token = world.token(as);
  return call({
    url: path.startsWith('http') ? path : world.base + path,
    method,
    body,
    headers: { ...(token === undefined ? {} : { authorization: `Bearer ${token}` }), ...headers },
  });
}

function faultOf(answer: Answer, { status, body, text, headers = {}, bytes }: Expectation): string | undefined {
  if (answer.status !== status) return `answered ${answer.status} ${show(answer.text)}, expected ${status}`;
  if (body !== undefined && answer.json === undefined) return `body is ${show(answer.text)}, expected JSON`;
  return (
    (body === undefined ? undefined : mismatch(answer.json, body)) ??
    (text === undefined ? undefined : mismatch(answer.text, text, 'text')) ??
    (bytes === undefined ? undefined : mismatch(answer.bytes, bytes, 'bytes')) ??
    mismatch(answer.headers, headers, 'header')
  );
}

function keepValues(
  answer: Answer,
  keep: Readonly<Record<string, string>>,
  kept: Map<string, string>,
): string | undefined {
  for (const [name, path] of Object.entries(keep)) {
    const value =
      path === ''
        ? answer.text
        : path.split('.').reduce<unknown>(fieldOf, { ...asObject(answer.json), headers: answer.headers });
    if (typeof value !== 'string' && typeof value !== 'number')
      return `${path} is ${show(value)}, expected a text or a number`;
    kept.set(name, String(value));
  }
  return undefined;
}

const asObject = (value: unknown): object => (typeof value === 'object' && value !== null ? value : {});
const fieldOf = (value: unknown, name: string): unknown => (asObject(value) as Readonly<Record<string, unknown>>)[name];
