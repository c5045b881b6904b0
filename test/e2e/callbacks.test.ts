import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { showTask } from '../harness/records.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const START_TIMEOUT_MS = 120_000;
/** The first poll comes after ten minutes, so only callbacks can end a task before. */
const POLL = { first: '10m', factor: 1, max: '10m' };
const TASKS = 30;

describe('one program', () => {
  callbackSuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  callbackSuite('four processes', bus);
});

/** A channel with callbacks, whose upstream has no list to search. */
function callbackSuite(shape: Shape, bus?: () => string): void {
  let sandbox: Sandbox;
  let program: Program;
  let demo: HttpCaller;

  beforeAll(async () => {
    sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
    program = await newProgram(shape, {
      upstream: new URL(sandbox.url).host,
      bus: bus?.(),
      tasks: { poll: POLL },
      channel: { callbacks: true, reconcile: 'none' },
    });
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
  }, START_TIMEOUT_MS);

  afterAll(async () => {
    await program?.end();
    await sandbox?.stop();
  }, START_TIMEOUT_MS);

  /** The number of orders that the upstream has accepted. */
  const taken = async (): Promise<number> => {
    const answer = await fetch(`${sandbox.url}/v2/query/video_generation?page_num=1&page_size=1`, {
      headers: { authorization: `Bearer ${UPSTREAM_KEY}` },
    });
    return ((await answer.json()) as { total: number }).total;
  };
  const contentOf = (text: string) => [{ type: 'text', text }];
  const generation = {
    model: 'Alpha-H3',
    content: contentOf('a red boat'),
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
  };

  test(
    'learns the end of every kind of task from callbacks only',
    async () => {
      const source = await demo.create('/v2/video_generation', generation);
      await demo.finish(source);
      const later = await Promise.all([
        demo.create('/v2/video_regeneration', { model: 'Alpha-H3', resolution: '2K', source_task_id: source }),
        demo.create('/v2/h3_context_ir', {
          model: 'Alpha-H3',
          content: generation.content,
          duration: 5,
          ratio: '16:9',
        }),
      ]);
      await Promise.all(later.map((taskId) => demo.finish(taskId)));
    },
    START_TIMEOUT_MS,
  );

  test(
    'loses no callback of many tasks that change at once',
    async () => {
      const tasks = await Promise.all(
        Array.from({ length: TASKS }, () => demo.create('/v2/video_generation', generation)),
      );
      await Promise.all(tasks.map((taskId) => demo.finish(taskId)));
    },
    START_TIMEOUT_MS,
  );

  test(
    'finds the upstream task of a lost answer by its callback, and has submitted it once',
    async () => {
      const before = await taken();
      const taskId = await demo.create('/v2/video_generation', {
        ...generation,
        content: contentOf('[reset] a lost boat'),
      });
      await demo.finish(taskId);

      expect(await taken()).toBe(before + 1);
      expect(await showTask(program, taskId)).toMatchObject({ admission: 'accepted' });
    },
    START_TIMEOUT_MS,
  );

  test(
    'answers 404 at an invented callback address',
    async () => {
      const stranger = httpCaller(program.base, undefined);
      const taskId = await demo.create('/v2/video_generation', generation);

      expect(
        (await stranger.call('POST', `/callbacks/${taskId}.1.${'A'.repeat(43)}`, { challenge: 'abc' })).status,
      ).toBe(404);
      await demo.finish(taskId);
    },
    START_TIMEOUT_MS,
  );
}
