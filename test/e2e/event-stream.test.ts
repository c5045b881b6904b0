import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { until } from '@reelgate/platform/testing/until';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { dropCharge, httpCaller } from '../harness/client.ts';
import { readEvents } from '../harness/event-reader.ts';
import type { EventReader } from '../harness/event-reader.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const TIMEOUT_MS = 120_000;
const HEARD_MS_MAX = 60_000;

describe('one program', () => {
  streamSuite('one program', async (program) => {
    await program.stop('SIGKILL');
    await program.start();
  });
});

describeWith(natsServer, 'four processes', (bus) => {
  const killGateway = async (program: Program): Promise<void> => {
    await program.killOne('gateway', 0);
    await program.ready();
  };
  streamSuite('four processes', killGateway, bus);
});

/** `cut` ends the process that clients are connected to, and starts it again. */
function streamSuite(shape: Shape, cut: (program: Program) => Promise<void>, bus?: () => string): void {
  let sandbox: Sandbox;
  let program: Program;
  const readers: EventReader[] = [];
  const open = async (query = '', token: string = KEYS.demo): Promise<EventReader> => {
    const reader = readEvents(program.base, token, query);
    readers.push(reader);
    await until(() => reader.lastId() !== '');
    return reader;
  };
  const create = (prompt = 'a red boat'): Promise<string> =>
    httpCaller(program.base, KEYS.demo).create('/v1/videos', { model: 'Alpha-H3', prompt, seconds: '4' });
  const subjectsOf = ({ events }: EventReader): string[] =>
    events.map(({ data }) => (JSON.parse(data) as { data: { id: string } }).data.id);

  beforeAll(async () => {
    sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
    program = await newProgram(shape, { upstream: new URL(sandbox.url).host, bus: bus?.() });
    await program.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await Promise.all(readers.map((reader) => reader.stop()));
    await program?.end();
    await sandbox?.stop();
  }, TIMEOUT_MS);

  test(
    'each end arrives once although the stream is cut off by a kill, and only at its account',
    async () => {
      const [all, failed, other] = [await open(), await open('?types=video.failed'), await open('', KEYS.other)];
      const before = [await create(), await create('[fail] a red boat'), await create()];
      await until(() => all.events.length > 0, HEARD_MS_MAX);
      await cut(program);
      const after = [await create(), await create()];
      await until(() => all.events.length >= 5, HEARD_MS_MAX);
      await until(() => failed.events.length === 1, HEARD_MS_MAX);

      expect(subjectsOf(all).toSorted()).toEqual([...before, ...after].toSorted());
      expect(new Set(all.events.map(({ id }) => id)).size).toBe(5);
      expect(all.connections()).toBe(2);
      expect(subjectsOf(failed)).toEqual([before[1]]);
      expect(other.events).toEqual([]);
    },
    TIMEOUT_MS,
  );
  test(
    'a full event has what a status read answers, without the charge',
    async () => {
      const reader = await open('?payload=full');
      const id = await create();
      await until(() => reader.events.length === 1, HEARD_MS_MAX);
      const { json } = await httpCaller(program.base, KEYS.demo).call('GET', `/v1/videos/${id}`);

      expect(JSON.parse(reader.events[0]?.data ?? '')).toMatchObject({ data: { task: dropCharge(json) } });
    },
    TIMEOUT_MS,
  );
  test(
    'a client that comes later reads all events that are kept, or those of one task',
    async () => {
      const id = await create();
      await httpCaller(program.base, KEYS.demo).finish(id);
      const [all, one] = [await open('?last_event_id=evt_0'), await open(`?last_event_id=evt_0&task_id=${id}`)];
      await until(() => subjectsOf(all).includes(id), HEARD_MS_MAX);
      await until(() => one.events.length > 0, HEARD_MS_MAX);

      expect(subjectsOf(one)).toEqual([id]);
      expect(all.events.length).toBeGreaterThan(1);
    },
    TIMEOUT_MS,
  );
  if (shape === 'four processes')
    test(
      'a client notices nothing of a kill of the tasks service',
      async () => {
        const reader = await open();
        await program.killOne('tasks', 0);
        await program.ready();
        const id = await create();
        await until(() => subjectsOf(reader).includes(id), HEARD_MS_MAX);

        expect(reader.connections()).toBe(1);
      },
      TIMEOUT_MS,
    );
}
