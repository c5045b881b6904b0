import { expect, test } from '@jest/globals';
import { runNode } from './simulate-seeds.ts';

const REPLACE = `
  import { openDraws } from './draws.ts';
  import { openScheduler } from './scheduler.ts';
  import { replaceNode } from './simulated-node.ts';
  import childProcess, { spawn } from 'node:child_process';
  import crypto, { randomBytes, randomUUID } from 'node:crypto';
  import dns from 'node:dns';
  import fs from 'node:fs';
  import net from 'node:net';
  import { Worker } from 'node:worker_threads';
  const draws = openDraws(1);
  const scheduler = openScheduler({ draws, hasLateTimers: false });
  replaceNode({ scheduler, random: draws.bytes(() => scheduler.nameChoice('bytes')) });
`;

const run = (text: string) => runNode(['--input-type=module', '--eval', REPLACE + text]);

test.each([
  ['a connection', 'net.connect(1)', 'connect'],
  ['a server', 'net.createServer().listen(0)', 'listen'],
  ['a look-up of a name', "dns.lookup('localhost', () => undefined)", 'lookup'],
  ['a child process', "spawn('true')", 'spawn'],
  ['a thread', "new Worker('data:text/javascript,0')", 'Worker'],
  ['an identifier without a seed', 'randomUUID()', 'randomUUID'],
  ['a number without a seed', 'Math.random()', 'random'],
  ['an asynchronous file', "await fs.promises.readFile('/dev/null')", 'readFile'],
])('%s leaves the simulation, and throws', async (_what, call, name) => {
  const { code, out } = await run(call);

  expect(out).toContain(`${name} leaves the simulation`);
  expect(code).not.toBe(0);
});

test('dates, timers, timeouts and random bytes come from the run alone', async () => {
  const text = `
    const lines = [];
    const begin = Date.now();
    const note = (name) => lines.push(name + ' ' + (Date.now() - begin));
    setTimeout(() => note('timer'), 86_400_000);
    setImmediate(() => note('immediate'));
    AbortSignal.timeout(1000).addEventListener('abort', () => note('timeout'));
    await scheduler.run(() => lines.length === 3);
    console.log([...lines, new Date().toISOString(), randomBytes(4).toString('hex')].join(', '));
  `;

  const [one, two] = [await run(text), await run(text)];

  expect(one.out).toMatch(/^immediate 0, timeout 1000, timer 86400000, 2026-01-02T00:00:00.000Z, [0-9a-f]{8}\n$/);
  expect(two.out).toBe(one.out);
});
