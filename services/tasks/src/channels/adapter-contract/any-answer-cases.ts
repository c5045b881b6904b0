import assert from 'node:assert/strict';
import type { UpstreamAnswer } from '@reelgate/adapter-kit';
import { toAttempt } from '../adapter-channel.ts';
import type { EventualSteps } from '../channel-adapter.ts';
import { API_KEY, benchCase, newSignal } from './contract-bench.ts';
import type { Bench, Contract } from './contract-bench.ts';
import { listAnswers, readCases } from './contract-case.ts';
import type { ContractCase, PollCase } from './contract-case.ts';

const ANSWERS = 300;
/** A few of them go through a channel, which has the key. */
const ANSWERS_BY_HTTP = 6;
const STEPS_MAX = 30;
const SEED = 20_261_126;
const STATUSES: readonly number[] = [200, 201, 400, 404, 409, 429, 500, 502];

/** The case that must hold for any answer of an upstream. */
export function listAnyAnswerCases(contract: Contract): readonly ContractCase[] {
  const name = 'no JSON and no status of an upstream makes the adapter throw or reveal the key';
  return [
    benchCase(contract, name, async (bench) => {
      const draw = drawFrom(SEED);
      const bodies = readCases<PollCase>(contract.subject, 'polls')
        .flatMap(listAnswers)
        .flatMap((answer) =>
          typeof answer === 'object' && answer.json !== undefined ? [JSON.stringify(answer.json)] : [],
        );
      for (let made = 0; made < ANSWERS; made += 1) {
        const answer = drawAnswer(draw, bodies);
        try {
          await readEverywhere(contract, answer);
        } catch (error) {
          throw new Error(`the adapter throws at ${JSON.stringify(answer)}`, { cause: error });
        }
        if (made < ANSWERS_BY_HTTP) assert.ok(!(await describeAnswers(contract, bench, answer)).includes(API_KEY));
      }
    }),
  ];
}

function drawAnswer(draw: Draw, bodies: readonly string[]): UpstreamAnswer {
  const isMutated = bodies.length > 0 && draw(2) === 0;
  const body = isMutated ? mutateJson(draw, pickOne(draw, bodies)) : drawJson(draw);
  return { status: pickOne(draw, STATUSES), body, headers: {}, retryAfterMs: undefined };
}

/** Lets each operation read the answer, as often as it asks. */
async function readEverywhere({ subject, calls, attempt, polledId }: Contract, answer: UpstreamAnswer): Promise<void> {
  await calls.readSubmit(answer, toAttempt(subject.adapter, attempt));
  await finishSteps(calls.poll(polledId), answer);
  if (calls.pollMany !== undefined) await finishSteps(calls.pollMany([polledId]), answer);
  if (calls.list !== undefined) await finishSteps(calls.list(0), answer);
  if (calls.cancel !== undefined) await finishSteps(calls.cancel(polledId), answer);
  await finishSteps(calls.test(), answer);
}

async function finishSteps(steps: EventualSteps<unknown>, answer: UpstreamAnswer): Promise<void> {
  let step = await steps.next();
  for (let made = 0; step.done !== true && made < STEPS_MAX; made += 1) step = await steps.next(answer);
}

/** Everything that a channel says about the answer. */
async function describeAnswers(
  { attempt, polledId }: Contract,
  { upstream, open }: Bench,
  { status, body }: UpstreamAnswer,
): Promise<string> {
  upstream.script(...Array.from({ length: 4 * STEPS_MAX }, () => ({ status, json: body })));
  const channel = open();
  const said = [
    await channel.submit(attempt, newSignal()),
    await channel.poll(polledId, newSignal()),
    await channel.list(0, newSignal()),
    await channel.cancel(polledId, newSignal()),
    await channel.test(newSignal()),
  ];
  return JSON.stringify(said);
}

/*
 * Values for the cases that must hold for any input. They come from a fixed seed, so that each run of the suite draws
 * the same ones, and a failure comes back.
 */

/** Draws whole numbers from 0 to below `limit`. */
export type Draw = (limit: number) => number;

const DEPTH_MAX = 3;
const MEMBERS_MAX = 4;
const SCALARS: readonly unknown[] = [
  ...[null, true, false, 0, -1, 1, 1.5, -1e9, 1e300, 2 ** 53],
  ...['', ' ', '0', 'null', 'a text', 'ü\u0000\u2028'],
  '../../admin?x=1#y',
  'http://169.254.169.254/latest',
  'x'.repeat(5000),
];
const KEYS: readonly string[] = ['', 'a', 'id', 'status', 'error', 'data', '__proto__', 'constructor', 'toString', '0'];

/** Returns draws from a seed (a xorshift generator). */
export function drawFrom(seed: number): Draw {
  let state = seed || 1;
  return (limit) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % limit;
  };
}

export function pickOne<T>(draw: Draw, values: readonly T[]): T {
  return values[draw(values.length)] as T;
}

/** Draws any JSON value of a bounded depth. */
export function drawJson(draw: Draw, depth = 0): unknown {
  const form = depth < DEPTH_MAX ? draw(4) : 0;
  if (form < 2) return pickOne(draw, SCALARS);
  const inner = Array.from({ length: draw(MEMBERS_MAX + 1) }, () => drawJson(draw, depth + 1));
  if (form === 2) return inner;
  return Object.fromEntries(inner.map((value) => [pickOne(draw, KEYS), value]));
}

/** Draws a JSON text with the value of one of its keys replaced, wherever the key stands. */
function mutateJson(draw: Draw, text: string): unknown {
  const keys: readonly string[] = text.match(/"[A-Za-z_]+":/g) ?? ['"":'];
  const key = pickOne(draw, keys);
  const value = drawJson(draw);
  return JSON.parse(text, (name, old: unknown) => (`"${name}":` === key ? value : old)) as unknown;
}
