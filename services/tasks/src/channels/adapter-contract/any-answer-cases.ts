import assert from 'node:assert/strict';
import type { UpstreamAnswer } from '@reelgate/adapter-kit';
import { toAttempt } from '../adapter-channel.ts';
import type { EventualSteps } from '../channel-adapter.ts';
import { drawFrom, drawJson, mutateJson, pickOne } from './any-json.ts';
import type { Draw } from './any-json.ts';
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
