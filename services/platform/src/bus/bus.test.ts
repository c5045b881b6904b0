import { beforeEach, describe, expect, test } from '@jest/globals';
import { TokenChangedSchema } from '@reelgate/proto/billing/v1/billing_events';
import { ProblemSchema } from '@reelgate/proto/problem/v1/problem';
import { connect, millis } from 'nats';
import { describeWith } from '../../../../test/servers/describe-with.ts';
import { openCuttableLine } from '../../../../test/harness/cuttable-line.ts';
import { findProgram } from '../../../../test/servers/find-program.ts';
import { natsServer } from '../../../../test/servers/nats-server.ts';
import { newServerFolder } from '../../../../test/servers/run-folder.ts';
import { startProcess } from '../../../../test/servers/start-process.ts';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { anEvent, anInbox, busConformance } from '../../testing/bus-conformance.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { busSettings } from './bus-settings.ts';
import { newLocalBus } from './local-bus.ts';
import { openNatsBus } from './nats-bus.ts';
import { STREAM } from './nats-stream.ts';
import { systemClock } from '../clock.ts';
import { silentLog } from '../log.ts';
import type { Log } from '../log.ts';

describe('a bus in this process', () => {
  busConformance(async (tracing) => newLocalBus(systemClock, silentLog, { tracing }), TokenChangedSchema);

  test('gives up an event after ten deliveries at growing intervals, and logs each failure', async () => {
    const clock = fakeClock();
    const warned: object[] = [];
    const log: Log = { ...silentLog, warn: (fields) => void warned.push(fields) };
    const again: string[] = [];
    const bus = newLocalBus(clock, log, {
      redeliveries: { begin: () => undefined, count: (consumer) => void again.push(consumer) },
    });
    const inbox = anInbox();
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      throw new Error('never');
    });

    await bus.publish(ProblemSchema, anEvent('a'), 'a');
    await clock.advance(199);
    expect(inbox.came).toHaveLength(1);
    for (let seconds = 0; seconds < 60; seconds += 1) await clock.advance(1000);

    expect(inbox.came).toHaveLength(10);
    expect(warned).toHaveLength(10);
    expect(again).toEqual(Array.from({ length: 9 }, () => 'group-reelgate-problem-v1-Problem'));
    expect(warned.at(-1)).toMatchObject({ subject: 'reelgate.problem.v1.Problem', delivery: 10 });
    await bus.close();
  });

  test('close() does not wait for a scheduled redelivery', async () => {
    const bus = newLocalBus(fakeClock(), silentLog);
    const inbox = anInbox();
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      throw new Error('not now');
    });
    await bus.publish(ProblemSchema, anEvent('a'), 'a');

    await inTime(bus.close());

    expect(inbox.came).toEqual(['a']);
  });
});

describeWith(natsServer, 'a bus', (url) => {
  beforeEach(async () => {
    const connection = await connect({ servers: url() });
    const manager = await connection.jetstreamManager();
    await manager.streams.delete('REELGATE').catch(() => undefined);
    await connection.close();
  });

  busConformance((tracing) => openNatsBus(busSettings(url()), silentLog, { tracing }), TokenChangedSchema);

  test('keeps events that are published before the first subscriber', async () => {
    const bus = await openNatsBus(busSettings(url()), silentLog);
    await bus.publish(ProblemSchema, anEvent('early'), 'early');
    const inbox = anInbox();

    await bus.subscribe(ProblemSchema, 'group', inbox.take);

    expect(await inbox.until('early')).toEqual(['early']);
    await bus.close();
  });

  test('keeps events for an absent process, and delivers none twice to the rest of its group', async () => {
    const [first, second] = [anInbox(), anInbox()];
    const gone = await openNatsBus(busSettings(url()), silentLog);
    await gone.subscribe(ProblemSchema, 'group', first.take);
    await gone.publish(ProblemSchema, anEvent('before'), 'before');
    await first.until('before');
    await gone.close();
    const back = await openNatsBus(busSettings(url()), silentLog);
    await back.publish(ProblemSchema, anEvent('meanwhile'), 'meanwhile');

    await back.subscribe(ProblemSchema, 'group', second.take);

    expect(await second.until('meanwhile')).toEqual(['meanwhile']);
    await back.close();
  });

  test('carries announcements from one process to another', async () => {
    const [here, there] = [
      await openNatsBus(busSettings(url()), silentLog),
      await openNatsBus(busSettings(url()), silentLog),
    ];
    const inbox = anInbox();
    await there.listen(ProblemSchema, (message) => void inbox.take(message));

    here.announce(ProblemSchema, anEvent('a'));

    expect(await inbox.until('a')).toEqual(['a']);
    await Promise.all([here.close(), there.close()]);
  });

  test('sends an announcement that was made just before it closes', async () => {
    const [here, there] = [
      await openNatsBus(busSettings(url()), silentLog),
      await openNatsBus(busSettings(url()), silentLog),
    ];
    const inbox = anInbox();
    await there.listen(ProblemSchema, (message) => void inbox.take(message));

    here.announce(ProblemSchema, anEvent('last words'));
    await here.close();

    expect(await inbox.until('last words')).toEqual(['last words']);
    await there.close();
  });

  test('drops an event whose id another process has published', async () => {
    const [here, there] = [
      await openNatsBus(busSettings(url()), silentLog),
      await openNatsBus(busSettings(url()), silentLog),
    ];
    const inbox = anInbox();
    await here.subscribe(ProblemSchema, 'group', inbox.take);

    for (const bus of [here, there]) await bus.publish(ProblemSchema, anEvent('a'), 'same');
    await here.publish(ProblemSchema, anEvent('last'), 'last');

    expect((await inbox.until('last')).toSorted()).toEqual(['a', 'last']);
    await Promise.all([here.close(), there.close()]);
  });

  test('does not end the process when a handler outlives the connection', async () => {
    const bus = await openNatsBus(busSettings(url()), silentLog);
    const inbox = anInbox();
    const gate = aGate();
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      await gate.opened;
      throw new Error('too late');
    });
    await bus.publish(ProblemSchema, anEvent('a'), 'a');
    await inbox.until('a');

    const closing = bus.close();
    gate.open();
    await inTime(closing);

    expect(bus.ready()).toBe(false);
  });

  test('is ready only while its server is reachable', async () => {
    const server = await natsServer.start();
    const bus = await openNatsBus(busSettings(server!.url), silentLog);
    expect(bus.ready()).toBe(true);

    await server!.stop();

    await inTime(
      (async () => {
        while (bus.ready()) await new Promise((resolve) => setImmediate(resolve));
      })(),
    );
    await inTime(bus.close());
    expect(bus.ready()).toBe(false);
  });

  test('tells of a second delivery of an event', async () => {
    const again: string[] = [];
    const bus = await openNatsBus(busSettings(url()), silentLog, {
      redeliveries: { begin: () => undefined, count: (consumer) => void again.push(consumer) },
    });
    const inbox = anInbox();
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      if (inbox.came.length === 1) throw new Error('not now');
    });

    await bus.publish(ProblemSchema, anEvent('a'), 'a');

    expect(await inbox.until(2)).toEqual(['a', 'a']);
    expect(again).toEqual(['group-reelgate-problem-v1-Problem']);
    await bus.close();
  });

  test('delivers an event once when its handler takes longer than the server waits', async () => {
    const bus = await openNatsBus(busSettings(url()), silentLog, { ackWaitMs: 1500 });
    const inbox = anInbox();
    await bus.subscribe(ProblemSchema, 'group', async (message) => {
      await inbox.take(message);
      if (message.reason === 'long') await systemClock.sleep(3500);
    });
    await bus.publish(ProblemSchema, anEvent('long'), 'long');
    await inbox.until('long');
    await systemClock.sleep(3500);
    await bus.publish(ProblemSchema, anEvent('last'), 'last');

    expect(await inbox.until('last')).toEqual(['long', 'last']);
    await bus.close();
  });

  test('asks the server to wait seconds for a process that is gone, also of a consumer that waited longer', async () => {
    const name = 'patient-reelgate-problem-v1-Problem';
    const before = await openNatsBus(busSettings(url()), silentLog, { ackWaitMs: 30_000 });
    await before.subscribe(ProblemSchema, 'patient', async () => undefined);
    await before.close();
    const bus = await openNatsBus(busSettings(url()), silentLog);
    await bus.subscribe(ProblemSchema, 'patient', async () => undefined);
    const connection = await connect({ servers: url() });
    const { config } = await (await connection.jetstreamManager()).consumers.info(STREAM, name);

    expect(millis(config.ack_wait ?? 0)).toBe(6000);
    await connection.close();
    await bus.close();
  });

  test('has another number after each connection, and none without one', async () => {
    const server = await natsServer.start();
    const line = await openCuttableLine(server!.url);
    const bus = await openNatsBus(busSettings(line.url), silentLog);
    const waitForNumber = (isExpected: (number: number | undefined) => boolean): Promise<void> =>
      inTime(
        (async () => {
          while (!isExpected(bus.connection())) await new Promise((resolve) => setImmediate(resolve));
        })(),
      );
    const first = bus.connection();
    expect(first).toBeDefined();

    line.cut();
    await waitForNumber((number) => number === undefined);
    line.mend();
    await waitForNumber((number) => number !== undefined);

    expect(bus.connection()).not.toBe(first);
    await bus.close();
    await line.stop();
    await server!.stop();
  });

  test('continues when its server returns without its store', async () => {
    const [first, second] = [await natsServer.start(), await natsServer.start()];
    const line = await openCuttableLine(first!.url);
    const bus = await openNatsBus(busSettings(line.url), silentLog);
    const inbox = anInbox();
    await bus.subscribe(ProblemSchema, 'group', inbox.take);
    await bus.publish(ProblemSchema, anEvent('before'), 'before');
    await inbox.until('before');

    line.cut();
    line.moveTo(second!.url);
    line.mend();

    // The publisher tries again until it succeeds, as the outbox does.
    await inTime(
      (async () => {
        while (
          !(await bus.publish(ProblemSchema, anEvent('after'), 'after').then(
            () => true,
            () => false,
          ))
        )
          await systemClock.sleep(100);
      })(),
    );
    expect(await inbox.until('after')).toEqual(['before', 'after']);
    await bus.close();
    await line.stop();
    await Promise.all([first!.stop(), second!.stop()]);
  });

  test('refuses a server without storage, and closes the connection to it', async () => {
    const folder = newServerFolder('nats');
    const server = await startProcess({
      program: findProgram('nats-server') ?? '',
      folder,
      args: (port) => ['--addr', '127.0.0.1', '--port', String(port)],
      ready: /Server is ready/,
      url: (port) => `nats://127.0.0.1:${port}`,
    });
    const line = await openCuttableLine(server.url);

    await expect(openNatsBus(busSettings(line.url), silentLog)).rejects.toThrow();

    await inTime(
      (async () => {
        while (line.connections() > 0) await new Promise((resolve) => setImmediate(resolve));
      })(),
    );
    await line.stop();
    await server.stop();
  });

  test('fails at once when there is no server', async () => {
    await expect(openNatsBus(busSettings('nats://127.0.0.1:1'), silentLog)).rejects.toThrow();
  });
});
