import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { connect } from 'nats';
import type { StreamConfig, StreamInfo } from 'nats';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { startNatsCluster } from '../../../../test/servers/nats-cluster.ts';
import type { NatsMember } from '../../../../test/servers/nats-cluster.ts';
import { natsServer } from '../../../../test/servers/nats-server.ts';
import { anEvent, anInbox } from '../../testing/bus-conformance.ts';
import { busSettings } from './bus-settings.ts';
import type { Bus } from './bus.ts';
import { openNatsBus } from './nats-bus.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import type { Log } from '../log.ts';

const EVENTS = 400;
const CLUSTER_MS_MAX = 60_000;
const PAUSE_MS = 50;

async function streamAt(servers: string[]): Promise<StreamInfo> {
  const connection = await connect({ servers });
  try {
    return await (await connection.jetstreamManager()).streams.info('REELGATE');
  } finally {
    await connection.close();
  }
}

/** Repeats what a cluster refuses while it has no leader. */
async function persistently<T>(work: () => Promise<T>): Promise<T> {
  const until = systemClock.now() + CLUSTER_MS_MAX;
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (systemClock.now() > until) throw error;
      await systemClock.sleep(PAUSE_MS);
    }
  }
}

describeWith(natsServer, 'the stream', (url) => {
  const warned: unknown[] = [];
  const log: Log = {
    ...silentLog,
    warn: (fields, message) => void warned.push([message, fields]),
    error: (fields, message) => void warned.push([message, fields]),
  };
  const after = async (limits: object): Promise<StreamConfig> => {
    const bus = await openNatsBus(busSettings({ servers: [url()], ...limits }), log);
    await bus.publish(ProblemSchema, anEvent('a'), 'a');
    await bus.close();
    return (await streamAt([url()])).config;
  };

  test('gets new limits from the settings, keeps what they do not name, and keeps its own if the server refuses', async () => {
    const week = { max_age: 7 * 24 * 3600 * 1e9, max_bytes: -1, num_replicas: 1, discard: 'old' };

    expect(await after({})).toMatchObject(week);
    expect(await after({ max_bytes: '64MiB' })).toMatchObject({ ...week, max_bytes: 64 * 1024 ** 2 });
    expect(await after({ max_age: '1d' })).toMatchObject({ max_age: 24 * 3600 * 1e9, max_bytes: 64 * 1024 ** 2 });
    expect(warned).toHaveLength(2);
    expect(await after({ max_bytes: '1000000GiB' })).toMatchObject({ max_bytes: 64 * 1024 ** 2 });
    expect(warned.at(-1)).toEqual([
      'the server refuses these limits of the stream; the old ones stay',
      expect.objectContaining({ changes: { max_bytes: 1_000_000 * 1024 ** 3 } }),
    ]);
  });
});

const clusters = natsServer.missing() === undefined ? describe : describe.skip;

clusters('a cluster of three servers', () => {
  let members: readonly NatsMember[] = [];
  const buses: Bus[] = [];
  beforeEach(async () => {
    members = await startNatsCluster(3);
  }, CLUSTER_MS_MAX);
  afterEach(async () => {
    await Promise.all(buses.splice(0).map((bus) => bus.close()));
    await Promise.all(members.map((member) => member.stop()));
  });
  const opening = async (): Promise<Bus> => {
    const bus = await persistently(() =>
      openNatsBus(busSettings({ servers: members.map(({ url }) => url), replicas: 3 }), silentLog),
    );
    buses.push(bus);
    return bus;
  };

  test(
    'loses no event when the leader of the stream is killed under load, and the bus works on',
    async () => {
      const [publisher, subscriber] = [await opening(), await opening()];
      const inbox = anInbox();
      await persistently(() => subscriber.subscribe(ProblemSchema, 'group', inbox.take));
      const names = Array.from({ length: EVENTS }, (_, index) => `event-${index}`);
      const { cluster, config } = await streamAt(members.map(({ url }) => url));
      expect(config.num_replicas).toBe(3);

      for (const [index, name] of names.entries()) {
        if (index === EVENTS / 4) void members.find((one) => one.name === cluster?.leader)?.stop();
        // The outbox, too, publishes until the bus has stored the event.
        await persistently(() => publisher.publish(ProblemSchema, anEvent(name), name));
      }

      await persistently(async () => {
        expect([...new Set(inbox.came)].toSorted()).toEqual(names.toSorted());
      });
      expect([publisher.ready(), subscriber.ready()]).toEqual([true, true]);
    },
    2 * CLUSTER_MS_MAX,
  );
});
