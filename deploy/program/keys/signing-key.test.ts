import { afterEach, expect, test } from '@jest/globals';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { Worker } from 'node:worker_threads';
import { Secret } from '@reelgate/platform/secret';
import { openSigningKey } from './signing-key.ts';

const THREADS = 3;
const FIRST_STARTS = 60;
const TIMEOUT_MS = 120_000;

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-key-'));
  folders.push(folder);
  return folder;
}

/** Takes the key of each folder at the same moment as the other threads. */
const TAKE_KEYS = `
import { parentPort, workerData } from 'node:worker_threads';
const { openSigningKey } = await import(workerData.module);
const arrived = new Int32Array(workerData.arrived);
parentPort.postMessage(workerData.dirs.map((dir, at) => {
  Atomics.add(arrived, at, 1);
  while (Atomics.load(arrived, at) < workerData.threads);
  return openSigningKey(dir, undefined).reveal();
}));`;

function keysTaken(dirs: readonly string[], arrived: SharedArrayBuffer): Promise<readonly string[]> {
  const workerData = { module: new URL('signing-key.ts', import.meta.url).href, dirs, arrived, threads: THREADS };
  const thread = new Worker(new URL(`data:text/javascript,${encodeURIComponent(TAKE_KEYS)}`), { workerData });
  return new Promise((resolve, reject) => {
    thread.once('message', resolve);
    thread.once('error', reject);
  });
}

test(
  'processes that start for the first time at the same moment have one key, and a whole one',
  async () => {
    const dirs = Array.from({ length: FIRST_STARTS }, newFolder);
    const arrived = new SharedArrayBuffer(dirs.length * Int32Array.BYTES_PER_ELEMENT);

    const taken = await Promise.all(Array.from({ length: THREADS }, () => keysTaken(dirs, arrived)));

    const wrong = dirs
      .map((_, at) => taken.map((keys) => keys[at] ?? ''))
      .filter(([first, ...others]) => first === '' || others.some((key) => key !== first));
    expect(wrong).toEqual([]);
  },
  TIMEOUT_MS,
);

test('the key survives restarts, only its owner can read the file, and no other file is left', () => {
  const dir = path.join(newFolder(), 'data');

  const first = openSigningKey(dir, undefined).reveal();

  expect(first.length).toBeGreaterThan(40);
  expect(openSigningKey(dir, undefined).reveal()).toBe(first);
  expect(statSync(path.join(dir, 'signing-key')).mode & 0o777).toBe(0o600);
  expect(readdirSync(dir)).toEqual(['signing-key']);
});

test('an empty key file stops the start, so that nothing is signed with an empty key', () => {
  const dir = newFolder();
  mkdirSync(dir, { recursive: true });
  writeFileSync(path.join(dir, 'signing-key'), '');

  expect(() => openSigningKey(dir, undefined)).toThrow(/signing-key.*is empty/);
});

test('a configured key is used unchanged, and no key file is made', () => {
  const dir = newFolder();

  expect(openSigningKey(dir, new Secret('configured')).reveal()).toBe('configured');
  expect(readdirSync(dir)).toEqual([]);
});
