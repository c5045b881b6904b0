import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { inTime } from '@reelgate/platform/testing/bounded-waits';
import { until } from '@reelgate/platform/testing/until';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { seeded } from '../harness/seeded.ts';
import { KEYS, callerKey } from '../harness/test-config.ts';
import { Followed, PROTOCOLS, mayResume, watchClient } from '../harness/watching.ts';
import type { WatchClient, WatchMessage } from '../harness/watching.ts';

const TIMEOUT_MS = 120_000;
/** Only ends a test that hangs: the interval of heartbeats is tested with an injected clock. */
const HEARTBEAT_WAIT_MS_MAX = 90_000;
const RESUME_PAUSE_MS = 100;
const READER = callerKey('reporting');
const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));

export interface WatchBacking {
  readonly bus?: () => string;
  readonly postgres?: () => string;
}

/** A caller that follows the tasks of the account and resumes after every end, until it is stopped. */
interface Follower {
  readonly seen: Followed;
  /** Cuts the connection now; the follower resumes. */
  cut(): void;
  stop(): Promise<void>;
}

/** Watches over every protocol, through disconnects and restarts. */
export function watchSuite(shape: Shape, { bus, postgres }: WatchBacking = {}): void {
  let upstream: ScriptedUpstream;
  let program: Program;
  let demo: HttpCaller;
  const ends: (() => Promise<void> | void)[] = [];

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    program = await newProgram(shape, {
      upstream: upstream.host,
      bus: bus?.(),
      databases: postgres === undefined ? undefined : await newDatabases(postgres()),
    });
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });

  const connect = (protocol: (typeof PROTOCOLS)[number], at?: string): WatchClient => {
    const client = watchClient(protocol, program.config, { key: READER, ...(at === undefined ? {} : { at }) });
    ends.push(() => client.close());
    return client;
  };
  const create = (words: string): Promise<string> => demo.create('/v2/video_generation', aGeneration(words));
  const follow = (client: WatchClient): Follower => {
    const follower = followTasks(client);
    ends.push(() => follower.stop());
    return follower;
  };

  describe.each(PROTOCOLS)('over %s', (protocol) => {
    test('a watch gives the task now, each change and the end, and its cursor goes on from there', async () => {
      const client = connect(protocol);
      const taskId = await create('a red boat [queue:600] [gate]');
      const named = { accountId: 'demo', taskId };
      const seen = new Followed();
      const messages = client.watchTask(named)[Symbol.asyncIterator]();
      const next = async (): Promise<boolean> => {
        const { done, value } = await inTime(messages.next());
        if (done !== true) seen.note(value);
        return done !== true;
      };

      while (seen.states.at(-1) !== 'IN_PROGRESS') expect(await next()).toBe(true);
      upstream.openGate();
      while (await next());

      expect(seen.states).toEqual(['QUEUED', 'IN_PROGRESS', 'COMPLETED']);
      expect(seen.tasks.get(taskId)).toMatchObject({ progress: 100, result: { mediaType: 'video/mp4' } });
      const after = await inTime(Array.fromAsync(client.watchTask({ ...named, cursor: seen.cursor })));
      expect(after.map(({ task, cursor }) => [task, cursor])).toEqual([[undefined, seen.cursor]]);
    });

    test('a watch of the account gives new tasks and each change, and only those that its filter names', async () => {
      const client = connect(protocol);
      const leaving = new AbortController();
      const all = new Followed();
      const completed = new Followed();
      const reading = [
        readInto(all, client.watchTasks({ accountId: 'demo' }, leaving.signal)),
        readInto(completed, client.watchTasks({ accountId: 'demo', states: [TaskState.COMPLETED] }, leaving.signal)),
      ];
      await until(() => all.heartbeats > 0 && completed.heartbeats > 0);

      const taskId = await create('a red boat [queue:300] [gate]');
      await until(() => all.states.includes('IN_PROGRESS'));
      upstream.openGate();
      // the two streams do not keep step
      await until(() => completed.tasks.has(taskId) && all.states.includes('COMPLETED'));
      leaving.abort();
      await Promise.allSettled(reading);

      expect(all.tasks.get(taskId)).toMatchObject({ state: TaskState.COMPLETED });
      expect(all.states).toEqual(expect.arrayContaining(['QUEUED', 'IN_PROGRESS', 'COMPLETED']));
      expect(completed.states).toEqual(['COMPLETED']);
    });

    test('a removed task, an unknown task and the task of another account are not found', async () => {
      const client = connect(protocol);
      const taskId = await create('a red boat [take:10]');
      await demo.finish(taskId);
      expect((await demo.call('DELETE', `/v1/videos/${taskId}`)).status).toBe(200);

      const ended = (named: string): Promise<unknown> =>
        inTime(Array.fromAsync(client.watchTask({ accountId: 'demo', taskId: named })));
      for (const named of [taskId, 'task_none']) await expect(ended(named)).rejects.toThrow(/no such task/);
    });
  });

  test(
    'a quiet watch has heartbeats with its cursor',
    async () => {
      const taskId = await create('a red boat [gate]');
      const messages: WatchMessage[] = [];
      const leaving = new AbortController();
      const started = performance.now();
      const reading = (async () => {
        for await (const message of connect('gRPC').watchTask({ accountId: 'demo', taskId }, leaving.signal))
          messages.push(message);
      })();
      while (!messages.some(({ task }) => task === undefined) && performance.now() - started < HEARTBEAT_WAIT_MS_MAX)
        await wait(200);
      leaving.abort();
      await Promise.allSettled([reading]);
      upstream.openGate();

      const [last, heartbeat] = messages.slice(-2);
      expect([last?.task?.id, heartbeat?.task, heartbeat?.cursor]).toEqual([taskId, undefined, last?.cursor]);
    },
    TIMEOUT_MS,
  );

  test(
    `watches that are cut at random, through a stop and a kill, miss no end and never go backwards (REELGATE_SEED=${SEED})`,
    async () => {
      const chance = seeded(SEED);
      const followers = PROTOCOLS.map((protocol) => follow(connect(protocol)));
      await until(() => followers.every(({ seen }) => seen.heartbeats > 0));
      const ids: string[] = [];
      const stops: readonly (NodeJS.Signals | undefined)[] = [undefined, 'SIGTERM', undefined, 'SIGKILL', undefined];
      for (const signal of stops) {
        for (let count = 0; count < 8; count += 1)
          ids.push(await create(`a red boat [queue:${chance.whole(0, 500)}] [take:${chance.whole(10, 3000)}]`));
        for (let cuts = 0; cuts < 6; cuts += 1) {
          await wait(chance.whole(10, 200));
          chance.pick(followers).cut();
        }
        if (signal !== undefined) await restart(program, shape, signal);
      }
      for (const id of ids) await demo.finish(id);

      await until(() =>
        followers.every(({ seen }) => ids.every((id) => seen.tasks.get(id)?.state === TaskState.COMPLETED)),
      );
      for (const { seen } of followers) expect(seen.backwards).toEqual([]);
    },
    TIMEOUT_MS,
  );
}

/** Stops the process of the tasks service by the signal, and starts it again. */
async function restart(program: Program, shape: Shape, signal: NodeJS.Signals): Promise<void> {
  if (shape === 'four processes') await program.killOne('tasks', RESUME_PAUSE_MS, signal);
  else {
    await program.stop(signal);
    await program.start();
  }
  await program.ready();
}

async function readInto(seen: Followed, messages: AsyncIterable<WatchMessage>): Promise<void> {
  for await (const message of messages) seen.note(message);
}

export function followTasks(client: WatchClient): Follower {
  const seen = new Followed();
  const stopping = new AbortController();
  let connection = new AbortController();
  const run = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      connection = new AbortController();
      try {
        await readInto(
          seen,
          client.watchTasks(
            { accountId: 'demo', cursor: seen.cursor },
            AbortSignal.any([connection.signal, stopping.signal]),
          ),
        );
      } catch (error) {
        if (!mayResume(error)) throw error;
      }
      await wait(RESUME_PAUSE_MS);
    }
  };
  const running = run();
  return {
    seen,
    cut: () => {
      connection.abort();
    },
    stop: async () => {
      stopping.abort();
      await running;
    },
  };
}
