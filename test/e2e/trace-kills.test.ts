import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { openOtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { OtlpSink } from '@reelgate/platform/testing/otlp-sink';
import type { ReceivedSpan } from '@reelgate/platform/testing/otlp-spans';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 180_000;
/** From the answer of a create to the kill. */
const LIVES_MS = 1200;
/** What the kernel has of a killed process still arrives. Only ends a test that fails. */
const ARRIVED_MS = 10_000;
const IMAGE = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png'));
const ROUTE = 'POST /v2/video_generation';

interface Receiver {
  readonly name: string;
  readonly rounds: readonly number[];
  /** Called before the create. */
  begin(): void;
  /** Called once the create is answered. */
  goOn(): void;
}

const nothing = (): void => undefined;
const RECEIVERS: readonly Receiver[] = [
  { name: 'a receiver that answers', rounds: [1, 2, 3], begin: nothing, goOn: nothing },
  {
    name: 'a receiver that has answered nothing yet',
    rounds: [1],
    begin: () => {
      sink.hold();
    },
    goOn: nothing,
  },
  {
    name: 'a receiver that is back when the create is answered',
    rounds: [1],
    begin: () => {
      sink.answer(503);
    },
    goOn: () => {
      sink.answer(200);
    },
  },
];

let sink: OtlpSink;
let upstream: ScriptedUpstream;

beforeAll(async () => {
  [sink, upstream] = await Promise.all([openOtlpSink(), startScriptedUpstream()]);
});
afterAll(async () => {
  await upstream?.stop();
  await sink?.close();
});

/** The program with the settings that are shipped, besides the address of the receiver. */
async function startTraced(shape: Shape, bus: string | undefined): Promise<Program> {
  const program = await newProgram(shape, { upstream: upstream.host, bus }, (config) => ({
    ...config,
    tracing: { endpoint: sink.endpoint },
  }));
  await program.start();
  return program;
}

/** A generation with a picture, which media stages. */
function anOrder(): object {
  const { content, ...rest } = aGeneration('a red boat [gate]') as { readonly content: readonly object[] };
  const url = `data:image/png;base64,${IMAGE.toString('base64')}`;
  return { ...rest, content: [...content, { type: 'image_url', image_url: { url }, role: 'first_frame' }] };
}

/** Creates a task that goes on after its create. */
async function create(program: Program, requestId: string): Promise<void> {
  const headers = { 'x-request-id': requestId };
  await httpCaller(program.base, KEYS.demo).create('/v2/video_generation', anOrder(), headers);
}

/** Not every create has these before its answer: a known token is not asked for, and a slow create sees a poll. */
const SOMETIMES = /Authenticate$|^poll /;

/** The spans of a create, which all end before its answer. */
function spansOf(requestId: string): readonly ReceivedSpan[] {
  const root = sink.spans.find(({ attributes }) => attributes['reelgate.request.id'] === requestId);
  if (root === undefined) return [];
  return sink.spans.filter(
    ({ name, traceId, endMs }) => traceId === root.traceId && endMs <= root.endMs && !SOMETIMES.test(name),
  );
}

const drawn = (spans: readonly ReceivedSpan[]): string[] =>
  spans.map(({ name, kind, resource }) => `${String(resource['service.name'])}: ${kind} ${name}`).toSorted();

/** The spans that every create has, from one whose process lives on. */
async function expectedSpans(program: Program, requestId: string): Promise<readonly string[]> {
  await create(program, requestId);
  await until(() => spansOf(requestId).length > 0);
  for (let seen = -1; seen < spansOf(requestId).length;) {
    seen = spansOf(requestId).length;
    // a moment in which nothing more arrives
    await wait(2 * LIVES_MS);
  }
  return drawn(spansOf(requestId));
}

function suite(shape: Shape, bus: () => string | undefined): void {
  let program: Program;
  let expected: readonly string[];
  beforeAll(async () => {
    program = await startTraced(shape, bus());
    expected = await expectedSpans(program, `${shape} that lives`.replaceAll(' ', '-'));
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
  }, TIMEOUT_MS);

  test('a create has spans of every process and of each step', () => {
    const names = expected.map((line) => line.split(': ')[1]);
    const processes = new Set(expected.map((line) => line.split(': ')[0]));

    expect(processes.size).toBe(shape === 'one program' ? 1 : 4);
    expect(names).toEqual(
      expect.arrayContaining([`server ${ROUTE}`, 'internal tasks begin', expect.stringMatching(/^client submit /)]),
    );
  });

  describe.each(RECEIVERS)('$name', ({ name, rounds, begin, goOn }) => {
    test.each(drawCases(`${shape} ${name}`, rounds, Math.ceil(rounds.length / 2)))(
      'has every span that ended a second before all processes were killed (%i)',
      async (round) => {
        const requestId = `${shape} ${name} ${round}`.replaceAll(' ', '-');
        begin();
        await create(program, requestId);
        goOn();
        await wait(LIVES_MS);
        // a process that the machine let do nothing meanwhile has not had its time
        await program.ready();
        await program.stop('SIGKILL');
        await until(() => drawn(spansOf(requestId)).join() === expected.join(), ARRIVED_MS).catch(nothing);
        sink.answer(200);
        await program.start();

        expect(drawn(spansOf(requestId))).toEqual(expected);
      },
      TIMEOUT_MS,
    );
  });
}

describe('one program that is killed', () => {
  suite('one program', () => undefined);
});

describeWith(natsServer, 'four processes that are killed', (bus) => {
  suite('four processes', bus);
});
