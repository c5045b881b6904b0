import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { TaskState } from '@reelgate/proto/tasks/v1/task';
import { httpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { aGeneration } from '../harness/orders.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startTasksReplica } from '../harness/replica.ts';
import type { Replica } from '../harness/replica.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS, callerKey } from '../harness/test-config.ts';
import { watchClient } from '../harness/watching.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';
import { followTasks, watchSuite } from './watches.ts';

const TIMEOUT_MS = 120_000;
/** Well below the interval of the sweep, which would find a change without any announcement. */
const ANNOUNCED_MS = 1000;
/** A slow machine takes longer, by at most this many times what a create takes on it. */
const CREATES_MAX = 10;

describe('one program', () => {
  watchSuite('one program');
});

describeWith(natsServer, 'four processes', (bus) => {
  describeWith(postgresServer, 'each with a database of its own', (postgres) => {
    watchSuite('four processes', { bus, postgres });
  });
  describeWith(postgresServer, 'and a second one of the tasks service', (postgres) => {
    let upstream: ScriptedUpstream;
    let program: Program;
    let replica: Replica;

    beforeAll(async () => {
      upstream = await startScriptedUpstream();
      program = await newProgram('four processes', {
        upstream: upstream.host,
        bus: bus(),
        databases: await newDatabases(postgres()),
      });
      await program.start();
      replica = await startTasksReplica(program);
    }, TIMEOUT_MS);
    afterAll(async () => {
      await replica?.stop();
      await program?.end();
      await upstream?.stop();
    }, TIMEOUT_MS);

    test(
      'a watch at either process sees at once what the other creates, and the end of what the other polls',
      async () => {
        const demo = httpCaller(program.base, KEYS.demo);
        const clients = [undefined, replica.listen].map((at) =>
          watchClient('gRPC', program.config, { key: callerKey('reporting'), ...(at === undefined ? {} : { at }) }),
        );
        const followers = clients.map(followTasks);
        await until(() => followers.every(({ seen }) => seen.heartbeats > 0));
        const ids: string[] = [];
        const late: number[] = [];
        const creates: number[] = [];
        for (let count = 0; count < 6; count += 1) {
          const begun = performance.now();
          const id = await demo.create('/v2/video_generation', aGeneration('a red boat [queue:300] [take:900]'));
          const created = performance.now();
          creates.push(created - begun);
          await until(() => followers.every(({ seen }) => seen.tasks.has(id)));
          late.push(performance.now() - created);
          ids.push(id);
        }
        await until(() =>
          followers.every(({ seen }) => ids.every((id) => seen.tasks.get(id)?.state === TaskState.COMPLETED)),
        );
        await Promise.all(followers.map((follower) => follower.stop()));
        for (const client of clients) client.close();

        // The median: a busy machine can delay one of them.
        const middle = (times: readonly number[]): number => times.toSorted((one, other) => one - other)[2]!;
        expect(middle(late)).toBeLessThan(ANNOUNCED_MS + CREATES_MAX * middle(creates));
        for (const { seen } of followers) expect(seen.backwards).toEqual([]);
      },
      TIMEOUT_MS,
    );
  });
});
