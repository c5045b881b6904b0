import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { describeWith } from '../../servers/describe-with.ts';
import { natsServer } from '../../servers/nats-server.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { redisServer } from '../../servers/redis-server.ts';
import { REPLICAS, SERVICES } from './replicas.ts';
import type { ReplicaName } from './replicas.ts';
import { openRestartWorld } from './run.ts';
import type { Failure, RestartWorld } from './run.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const TIMEOUT_MS = 400_000;
/** Few enough for any machine: what fails does not depend on their number, unless it is too much work. */
const RATE = { createsPerSecond: 2, inHandMax: 6 };

describeWith(natsServer, `two processes of each service (REELGATE_SEED=${SEED})`, (bus) => {
  describeWith(redisServer, 'with shared counters', (redis) => {
    describeWith(postgresServer, 'each with a database of its own', (postgres) => {
      let world: RestartWorld;
      beforeAll(async () => {
        world = await openRestartWorld({ bus: bus(), redis: redis(), postgres: postgres() });
      }, TIMEOUT_MS);
      afterAll(() => world?.close(), TIMEOUT_MS);

      /** One process of each of these services. */
      const someOf = (services: readonly string[]): readonly ReplicaName[] =>
        REPLICAS.filter(({ service }, index) => services.includes(service) && index % 2 === SEED % 2);

      test(
        'one of each that gets SIGTERM fails no request',
        async () => {
          const plan = { seed: SEED, ...RATE, signal: 'SIGTERM' } as const;
          const { requests, failures } = await world.run({ ...plan, replicas: someOf(SERVICES) });

          expect(failures.map(tell)).toEqual([]);
          expect(Object.keys(requests)).toEqual(expect.arrayContaining(['create', 'read', 'event stream']));
        },
        TIMEOUT_MS,
      );

      test(
        'one of each that is killed fails no read, and of the creates those whose outcome is unknown',
        async () => {
          const plan = { seed: SEED + 1, ...RATE, signal: 'SIGKILL' } as const;
          const { failures } = await world.run({ ...plan, replicas: someOf(['tasks', 'billing', 'media']) });

          expect(failures.filter((failure) => !isCreateInHand(failure)).map(tell)).toEqual([]);
          expect(failures.filter(({ after }) => !after.includes('tasks')).map(tell)).toEqual([]);
        },
        TIMEOUT_MS,
      );
    });
  });
});

/** Without a key its outcome is unknown; with one it runs until another process has taken it over. */
function isCreateInHand({ kind, status }: Failure): boolean {
  return kind === 'create' && (status === 503 || status === 409);
}

function tell({ target, status, text, after, chain }: Failure): readonly unknown[] {
  return [target, status, text, after, ...chain];
}
