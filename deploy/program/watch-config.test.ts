import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import type { Foundation } from '@reelgate/platform/foundation';
import { silentLog } from '@reelgate/platform/log';
import { newMetrics } from '@reelgate/platform/metrics/metrics';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { ServiceName } from './config/program-config.ts';
import { readConfig } from './config/read-config.ts';
import { RETRY_MS, WATCH_MS, watchConfig } from './watch-config.ts';

const SETTLED_MS = 2 * WATCH_MS;
const LATER_MS = 10 * WATCH_MS;

const ends: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end();
});

/** The folder of a ConfigMap, as a kubelet mounts it: each revision is a folder, and one link is swapped. */
function mountedFolder(files: object) {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-mount-'));
  ends.push(() => rmSync(folder, { recursive: true }));
  let revision = 0;
  const swap = (texts: object): void => {
    const old = `..2026_${revision}`;
    revision += 1;
    const name = `..2026_${revision}`;
    mkdirSync(path.join(folder, name));
    for (const [file, content] of Object.entries(texts))
      writeFileSync(path.join(folder, name, file), typeof content === 'string' ? content : JSON.stringify(content));
    symlinkSync(name, path.join(folder, '..data_tmp'));
    renameSync(path.join(folder, '..data_tmp'), path.join(folder, '..data'));
    rmSync(path.join(folder, old), { recursive: true, force: true });
  };
  swap(files);
  for (const file of Object.keys(files)) symlinkSync(path.join('..data', file), path.join(folder, file));
  return { folder, swap };
}

interface Logged {
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/** A running program that follows the configuration at this path, and what its only service received. */
async function following(named: string, { service, fails }: { service?: ServiceName; fails?: () => boolean } = {}) {
  const clock = fakeClock();
  const metrics = newMetrics(false);
  const logged: Logged[] = [];
  const keep = (fields: object, message: string) => void logged.push({ message, fields: fields as Logged['fields'] });
  const received: unknown[] = [];
  const running = {
    reload: async (value: { readonly prices: unknown }) => {
      if (fails?.()) throw new Error('the database is away');
      received.push(value.prices);
    },
  };
  const read = () => readConfig({ REELGATE_CONFIG: named }, service);
  const watch = watchConfig({ started: read(), service, read, services: [running] }, {
    clock,
    metrics,
    log: { ...silentLog, warn: keep, error: keep },
  } as unknown as Foundation);
  ends.push(() => watch.stop());
  await clock.advance(0);
  const valueOf = async (name: string): Promise<number> =>
    Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(await metrics.text())?.[1]);
  return { clock, watch, received, logged, valueOf };
}

const priced = (price: string): object => ({ prices: { chat: { per_request: price } } });
const pricesOf = (price: string): object => ({ chat: { per_request: price } });

test('a swap of a mounted folder is applied once, within two intervals', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': priced('1') });
  const { clock, received } = await following(folder);

  swap({ 'a.yaml': priced('2') });
  for (let second = 0; second < SETTLED_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([pricesOf('2')]);

  for (let second = 0; second < LATER_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([pricesOf('2')]);
});

test('each of several swaps is applied, and the watch goes on', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': priced('1') });
  const { clock, received } = await following(folder);

  for (const price of ['2', '3', '4']) {
    swap({ 'a.yaml': priced(price) });
    for (let second = 0; second < SETTLED_MS; second += WATCH_MS) await clock.advance(WATCH_MS);
  }

  expect(received).toEqual(['2', '3', '4'].map(pricesOf));
});

test('a file that is written in two steps is read when it is whole', async () => {
  const { folder } = mountedFolder({ 'a.yaml': {} });
  const file = path.join(folder, 'plain.yaml');
  writeFileSync(file, JSON.stringify(priced('1')));
  const { clock, received } = await following(file);

  writeFileSync(file, '');
  await clock.advance(WATCH_MS);
  writeFileSync(file, JSON.stringify(priced('2')));
  await clock.advance(WATCH_MS);

  expect(received).toEqual([]);

  await clock.advance(WATCH_MS);

  expect(received).toEqual([pricesOf('2')]);
});

test('a file that appears in the folder is read, and a secret that changes is read again', async () => {
  const { folder } = mountedFolder({ 'a.yaml': priced('1') });
  const secret = path.join(folder, 'price');
  writeFileSync(secret, '5\n');
  const { clock, received } = await following(folder);

  writeFileSync(path.join(folder, 'b.yaml'), `prices: { speech: { per_request: "\${file:${secret}}" } }`);
  for (let second = 0; second < SETTLED_MS; second += WATCH_MS) await clock.advance(WATCH_MS);
  writeFileSync(secret, '6\n');
  for (let second = 0; second < SETTLED_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([
    { ...pricesOf('1'), speech: { per_request: '5' } },
    { ...pricesOf('1'), speech: { per_request: '6' } },
  ]);
});

test('a request to reload reads at once, and the watch does not read the same change again', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': priced('1') });
  const { clock, watch, received } = await following(folder);

  swap({ 'a.yaml': priced('2') });
  watch.reload();
  await clock.advance(0);

  expect(received).toEqual([pricesOf('2')]);

  for (let second = 0; second < LATER_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([pricesOf('2')]);
});

test('a refused configuration leaves the old one, is said once, and is tried again until it is mended', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': priced('1') });
  const { clock, received, logged, valueOf } = await following(folder);
  const startedAt = Math.floor(clock.now() / 1000);
  expect([
    await valueOf('reelgate_config_reload_success'),
    await valueOf('reelgate_config_reload_timestamp_seconds'),
  ]).toEqual([1, startedAt]);

  swap({ 'a.yaml': priced('much') });
  for (let second = 0; second < LATER_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([]);
  expect(logged).toEqual([
    {
      message: 'the new configuration was refused; the old one stays',
      fields: { reason: expect.stringContaining('a.yaml:1: prices.chat.per_request: expected a decimal') },
    },
  ]);
  expect([
    await valueOf('reelgate_config_reload_success'),
    await valueOf('reelgate_config_reload_timestamp_seconds'),
  ]).toEqual([0, startedAt]);

  swap({ 'a.yaml': priced('2') });
  for (let second = 0; second < RETRY_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect(received).toEqual([pricesOf('2')]);
  expect(await valueOf('reelgate_config_reload_success')).toBe(1);
  expect(await valueOf('reelgate_config_reload_timestamp_seconds')).toBeGreaterThan(startedAt);
});

test('a configuration that a service could not take for a while is applied without another change', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': priced('1') });
  let isAway = true;
  const { clock, received, valueOf } = await following(folder, { fails: () => isAway });

  swap({ 'a.yaml': priced('2') });
  for (let second = 0; second < SETTLED_MS; second += WATCH_MS) await clock.advance(WATCH_MS);
  expect([received, await valueOf('reelgate_config_reload_success')]).toEqual([[], 0]);

  isAway = false;
  for (let second = 0; second < RETRY_MS; second += WATCH_MS) await clock.advance(WATCH_MS);

  expect([received, await valueOf('reelgate_config_reload_success')]).toEqual([[pricesOf('2')], 1]);
});

test('one warning names every changed setting that only a start applies, until it is as at the start again', async () => {
  const { folder, swap } = mountedFolder({ 'a.yaml': { ...priced('1'), tasks: { retention: '1d' } } });
  const { clock, watch, logged } = await following(folder);
  const reloaded = async (file: object): Promise<void> => {
    swap({ 'a.yaml': file });
    watch.reload();
    await clock.advance(0);
  };

  await reloaded({ ...priced('2'), signing_key: 'a-key-that-is-long-enough', tasks: { retention: '2d' } });
  await reloaded({ ...priced('3'), tasks: { retention: '1d' } });

  const lines = logged.filter(({ message }) => message !== 'a setting of the configuration has no effect');
  expect(lines.map(({ message, fields }) => [message, fields['settings']])).toEqual([
    ['the configuration was read again', undefined],
    ['changed settings take effect at the next start', ['tasks.retention', 'signing_key']],
    ['the configuration was read again', undefined],
  ]);
  expect(JSON.stringify(logged)).not.toContain('long-enough');
});
