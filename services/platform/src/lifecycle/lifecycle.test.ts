import { expect, test } from '@jest/globals';
import { fakeClock } from '../../testing/fake-clock.ts';
import { openLifecycle } from './lifecycle.ts';
import { silentLog } from '../log.ts';

test('parts stop one after another, the first started last', async () => {
  const clock = fakeClock();
  const said: string[] = [];
  const lifecycle = openLifecycle(silentLog);
  for (const name of ['store', 'bus', 'server'])
    lifecycle.add(name, async () => {
      said.push(`${name} stops`);
      await clock.sleep(1000);
      said.push(`${name} stopped`);
    });

  const stopped = lifecycle.stop();
  for (let second = 0; second < 3; second += 1) await clock.advance(1000);
  await stopped;

  expect(said).toEqual(['server stops', 'server stopped', 'bus stops', 'bus stopped', 'store stops', 'store stopped']);
});

test('each part stops once for any number of stop requests', async () => {
  let stops = 0;
  const lifecycle = openLifecycle(silentLog);
  lifecycle.add('store', () => void (stops += 1));

  await Promise.all([lifecycle.stop(), lifecycle.stop()]);
  await lifecycle.stop();

  expect(stops).toBe(1);
});

test('the service announces a stop before the first part stops', async () => {
  const lifecycle = openLifecycle(silentLog);
  const announced: boolean[] = [lifecycle.stopping.aborted];
  lifecycle.add('server', () => void announced.push(lifecycle.stopping.aborted));

  await lifecycle.stop();

  expect(announced).toEqual([false, true]);
});

test('a part that fails to stop is named in the log, and the other parts stop', async () => {
  const stopped: string[] = [];
  const logged: object[] = [];
  const lifecycle = openLifecycle({ ...silentLog, error: (fields) => void logged.push(fields) });
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
  await expect(openLifecycle(silentLog).stop()).resolves.toBeUndefined();
});
