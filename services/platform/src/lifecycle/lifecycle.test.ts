import { describe, expect, test } from '@jest/globals';
import { aGate, inTime } from '../../testing/bounded-waits.ts';
import { fakeClock } from '../../testing/fake-clock.ts';
import { untilAfter } from '../../testing/until.ts';
import { waitForAbort } from './drain.ts';
import type { Drain } from './drain.ts';
import { newLifecycle } from './lifecycle.ts';
import { silentLog } from '../log.ts';

test('parts stop one after another, the first started last', async () => {
  const clock = fakeClock();
  const said: string[] = [];
  const lifecycle = newLifecycle(silentLog);
  for (const name of ['store', 'bus', 'server'])
    lifecycle.add(name, async () => {
      said.push(`${name} stops`);
      await clock.sleep(100);
      said.push(`${name} stopped`);
    });

  let isOver = false;
  const stopped = lifecycle.stop().then(() => {
    isOver = true;
  });
  await untilAfter(clock, () => isOver);
  await stopped;

  expect(said).toEqual(['server stops', 'server stopped', 'bus stops', 'bus stopped', 'store stops', 'store stopped']);
});

test('each part stops once for any number of stop requests', async () => {
  let stops = 0;
  const lifecycle = newLifecycle(silentLog);
  lifecycle.add('store', () => void (stops += 1));

  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  await lifecycle.stop();

  expect(stops).toBe(1);
});

test('the service announces a stop before the first part stops', async () => {
  const lifecycle = newLifecycle(silentLog);
  const announced: boolean[] = [lifecycle.stopping.aborted];
  lifecycle.add('server', () => void announced.push(lifecycle.stopping.aborted));

  await lifecycle.stop();

  expect(announced).toEqual([false, true]);
});

test('a part that fails to stop is named in the log, and the other parts stop', async () => {
  const stopped: string[] = [];
  const logged: object[] = [];
  const lifecycle = newLifecycle({ ...silentLog, error: (fields) => void logged.push(fields) });
  lifecycle.add('store', () => void stopped.push('store'));
  lifecycle.add('bus', async () => {
    throw new Error('not connected');
  });
  lifecycle.add('server', () => {
    throw new Error('not listening');
  });

  await lifecycle.stop();

  expect(stopped).toEqual(['store']);
  expect(logged).toMatchObject([
    { part: 'server', err: { message: 'not listening' } },
    { part: 'bus', err: { message: 'not connected' } },
  ]);
});

test('a service without parts stops at once', async () => {
  await expect(newLifecycle(silentLog).stop()).resolves.toBeUndefined();
});

describe('running work', () => {
  const TIMES = { leadMs: 5000, timeoutMs: 90_000 };

  /** Work that notes its phases, and ends when it is told to. */
  function draining(said: string[], end: Promise<unknown> = Promise.resolve()) {
    return {
      name: 'work',
      times: TIMES,
      drain: async ({ closing, over }: Drain) => {
        said.push('drains');
        closing.addEventListener('abort', () => said.push('closes'));
        over.addEventListener('abort', () => said.push('is cut off'));
        await waitForAbort(closing);
        await end;
        said.push('ended');
      },
    };
  }

  test('drains from the beginning of the stop, closes after the lead, and ends before the first part stops', async () => {
    const [clock, said] = [fakeClock(), [] as string[]];
    const lifecycle = newLifecycle(silentLog, clock);
    lifecycle.add('store', () => void said.push('store stops'));
    lifecycle.addDrain(draining(said));

    const stopped = lifecycle.stop();
    await clock.advance(4999);
    expect(said).toEqual(['drains']);

    await clock.advance(1);
    await stopped;
    expect(said).toEqual(['drains', 'closes', 'ended', 'store stops']);
  });

  test('closes without the lead in a stop at once', async () => {
    const said: string[] = [];
    const lifecycle = newLifecycle(silentLog, fakeClock());
    lifecycle.addDrain(draining(said));

    await inTime(lifecycle.stop({ atOnce: true }));

    expect(said).toEqual(['drains', 'closes', 'ended']);
  });

  test('does not close while another process needs it', async () => {
    const [clock, said, gate] = [fakeClock(), [] as string[], aGate()];
    const lifecycle = newLifecycle(silentLog, clock);
    lifecycle.addDrain({ ...draining(said), released: () => gate.opened.then(() => undefined) });

    const stopped = lifecycle.stop();
    await clock.advance(60_000);
    expect(said).toEqual(['drains']);

    gate.open();
    await inTime(stopped);
    expect(said).toEqual(['drains', 'closes', 'ended']);
  });

  test('is cut off after its time, and left behind if it does not end even then', async () => {
    const [clock, said, logged] = [fakeClock(), [] as string[], [] as object[]];
    const lifecycle = newLifecycle({ ...silentLog, error: (fields) => void logged.push(fields) }, clock);
    lifecycle.addDrain(draining(said, new Promise(() => undefined)));
    lifecycle.add('bus', () => new Promise(() => undefined));
    lifecycle.add('store', () => void said.push('store stops'));

    const stopped = lifecycle.stop();
    await clock.advance(5000);
    await clock.advance(90_000);
    expect(said).toEqual(['drains', 'closes', 'is cut off']);
    await clock.advance(5000);
    await clock.advance(15_000);
    await inTime(stopped);

    expect(said.at(-1)).toBe('store stops');
    expect(logged).toEqual([{ part: 'work' }, { part: 'bus' }]);
  });
});
