import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { createToken, readAccount } from '../harness/records.ts';
import { startTasksReplica } from '../harness/replica.ts';
import type { Replica } from '../harness/replica.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';

const TIMEOUT_MS = 180_000;
const PLACES = 2;
const FLOOD = 16;
const DURATIONS = [4, 5, 6, 7, 8, 9, 10, 11];
const RATIOS = ['16:9', '9:16', '1:1'];
const QUEUE = {
  tasks: { queue: { enabled: true } },
  channel: { limits: { requests_per_minute: 6000, in_flight: PLACES } },
};

interface Queue {
  readonly program: Program;
  readonly upstream: ScriptedUpstream;
  readonly demo: HttpCaller;
  readonly other: HttpCaller;
}

/** No two of them are equal, so that the work of a lost answer is found in the list of the upstream. */
const order = (words: string, index: number): object => ({
  ...aGeneration(`a red boat ${words}`),
  duration: DURATIONS[index % DURATIONS.length],
  ratio: RATIOS[Math.floor(index / DURATIONS.length)],
});
const create = (caller: HttpCaller, words: string, index = 0): Promise<string> =>
  caller.create('/v2/video_generation', order(words, index));
const createMany = (caller: HttpCaller, count: number, words: string): Promise<readonly string[]> =>
  Promise.all(Array.from({ length: count }, (_none, index) => create(caller, words, index)));
const statusOf = async (caller: HttpCaller, id: string): Promise<string> =>
  String((await caller.call('GET', `/v1/videos/${id}`)).json?.status);

/** The money that is held for an account. */
async function readHeld({ program }: Queue, account: string): Promise<number> {
  return Number((await readAccount(program, account)).held);
}

/** The rules of the queue, whatever runs it. `kill` ends a process by force and starts it again. */
function queueSuite(opened: () => Queue, kill: () => Promise<void>): void {
  test(
    'a flood waits as queued tasks, an account that comes later is not behind it, and each order is sent once',
    async () => {
      const { upstream, demo, other } = opened();
      const before = upstream.works.length;
      const flood = await createMany(demo, FLOOD, '[take:150]');
      const late = await create(other, '[take:150]');

      await other.finish(late);
      const ended = (await Promise.all(flood.map((id) => statusOf(demo, id)))).filter(
        (status) => status === 'completed',
      );
      expect(ended.length).toBeLessThan(FLOOD);
      for (const id of flood) await demo.finish(id);
      expect(upstream.works.length - before).toBe(FLOOD + 1);
    },
    TIMEOUT_MS,
  );

  test(
    'a task that waits is cancelled at once, is never sent, and its money is free again',
    async () => {
      const { upstream, demo } = opened();
      const before = upstream.works.length;
      const running = await createMany(demo, PLACES, '[gate]');
      await until(() => Promise.resolve(upstream.works.length === before + PLACES));
      const waiting = await createMany(demo, 3, '[take:10]');
      for (const id of waiting) {
        expect(await statusOf(demo, id)).toBe('queued');
        const answer = await demo.call('POST', `/v1/videos/${id}/cancel`);
        expect([answer.status, answer.json?.status]).toEqual([200, 'failed']);
      }
      upstream.openGate();
      for (const id of running) await demo.finish(id);

      expect(upstream.works.length).toBe(before + PLACES);
      await until(async () => (await readHeld(opened(), 'demo')) === 0);
    },
    TIMEOUT_MS,
  );

  test(
    'a revoked token loses its places in the queue if the operator says so, and its money is free again',
    async () => {
      const { program, upstream, demo } = opened();
      const before = upstream.works.length;
      const { id, key } = await createToken(program, 'other');
      const running = await createMany(demo, PLACES, '[gate]');
      await until(() => Promise.resolve(upstream.works.length === before + PLACES));
      await createMany(httpCaller(program.base, key), 3, '[take:10]');
      const revoked = await program.command('token', 'revoke', id, '--cancel-waiting');
      upstream.openGate();
      for (const task of running) await demo.finish(task);

      expect(revoked.json).toMatchObject({ token: { id }, waiting: { cancelled: 3 } });
      expect(upstream.works.length).toBe(before + PLACES);
      await until(async () => (await readHeld(opened(), 'other')) === 0);
    },
    TIMEOUT_MS,
  );

  test(
    'tasks that wait outlive a kill, and none of them is sent twice or lost',
    async () => {
      const { upstream, demo } = opened();
      const before = upstream.works.length;
      // no turn is under way at the kill: what that leaves is searched for at the upstream
      const running = await createMany(demo, PLACES, '[gate]');
      await until(() => Promise.resolve(upstream.works.length === before + PLACES));
      const ids = await createMany(demo, FLOOD, '[take:150]');
      await kill();
      upstream.openGate();
      for (const id of [...running, ...ids]) await demo.finish(id);

      expect(upstream.works.length - before).toBe(PLACES + FLOOD);
      await until(async () => (await readHeld(opened(), 'demo')) === 0);
    },
    TIMEOUT_MS,
  );
}

async function openQueue(program: Program, upstream: ScriptedUpstream): Promise<Queue> {
  await program.start();
  return {
    program,
    upstream,
    demo: httpCaller(program.base, KEYS.demo),
    other: httpCaller(program.base, KEYS.other),
  };
}

describe('the queue of one program', () => {
  let queue: Queue;
  beforeAll(async () => {
    const upstream = await startScriptedUpstream();
    queue = await openQueue(await newProgram('one program', { upstream: upstream.host, ...QUEUE }), upstream);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await queue?.program.end();
    await queue?.upstream.stop();
  }, TIMEOUT_MS);

  queueSuite(
    () => queue,
    async () => {
      await queue.program.stop('SIGKILL');
      await queue.program.start();
    },
  );
});

describeWith(natsServer, 'the queue of two processes of the tasks service', (bus) => {
  describeWith(postgresServer, 'on one database', (postgres) => {
    let queue: Queue;
    let replica: Replica;
    beforeAll(async () => {
      const upstream = await startScriptedUpstream();
      const databases = await newDatabases(postgres());
      const program = await newProgram('four processes', { upstream: upstream.host, bus: bus(), databases, ...QUEUE });
      queue = await openQueue(program, upstream);
      replica = await startTasksReplica(program);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await replica?.stop();
      await queue?.program.end();
      await queue?.upstream.stop();
    }, TIMEOUT_MS);

    queueSuite(
      () => queue,
      () => queue.program.killOne('tasks', 0, 'SIGKILL'),
    );
  });
});
