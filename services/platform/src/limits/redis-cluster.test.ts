import { expect, test } from '@jest/globals';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { redisCluster, redisSentinel } from '../../../../test/servers/redis-cluster.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { until } from '../../testing/until.ts';
import { systemClock } from '../clock.ts';
import { newIds } from '../ids.ts';
import { silentLog } from '../log.ts';
import { newMetrics } from '../metrics/metrics.ts';
import { Secret } from '../secret.ts';
import { openRedisLink } from './redis-link.ts';
import type { RedisLink } from './redis-link.ts';
import { redisScript } from './redis-script.ts';
import { openSharedLimits } from './shared-limits.ts';

const COUNT = redisScript("redis.call('INCR', KEYS[1]) return redis.call('INCR', KEYS[2])");
/** Long enough for a busy machine. */
const DEADLINE_MS = 5000;
/** Their slots lie on every node of three. */
const TOKENS = Array.from({ length: 30 }, (_none, at) => `token_${at}`);

const open = (url: string): Promise<RedisLink> =>
  openRedisLink({ url: new Secret(url), log: silentLog, deadlineMs: DEADLINE_MS });

describeWith(redisCluster, 'a cluster', (url) => {
  test('whose address names one node has keys on every node', async () => {
    const link = await open(url());

    const counts = await Promise.all(
      TOKENS.map((token) => link.run(COUNT, { keys: [`{${token}}:a`, `{${token}}:b`], args: [] })),
    );

    expect(counts).toEqual(TOKENS.map(() => 1));
    expect(link.isAway()).toBe(false);
    await link.close();
  });

  test('has the limits that replicas share', async () => {
    const clock = fakeClock();
    const replicas = await Promise.all(
      [1, 2].map(async () => {
        const redis = await open(url());
        const deps = { clock, newId: newIds(systemClock), log: silentLog, metrics: newMetrics(false) };
        const limits = await openSharedLimits({ ...deps, service: 'cluster', redis });
        return { limits, redis, peer: limits.forPeer('main', { perMinute: 10 }) };
      }),
    );
    await until(async () => {
      await clock.advance(1000);
      return replicas.every(({ limits }) => limits.replicas() === 2);
    });

    const waits: unknown[] = [];
    for (let call = 0; call < 20; call += 1) waits.push(await replicas[call % 2]!.peer.admit());

    expect(waits.filter((wait) => wait === 0)).toHaveLength(10);
    await Promise.all(replicas.map(async ({ limits, redis }) => limits.close().then(() => redis.close())));
  });
});

describeWith(redisSentinel, 'a Sentinel', (url) => {
  test('is refused at the start by its name, with what to name instead', async () => {
    await expect(open(url())).rejects.toMatchObject({
      name: 'StoreRefused',
      message: expect.stringMatching(/is a Redis Sentinel, .*; expected the address of the master/),
    });
  });
});
