import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { silentLog } from '@reelgate/platform/log';
import type { LogLevel, ProgramLog } from '@reelgate/platform/log';
import { until } from '@reelgate/platform/testing/until';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { describeWith } from '../../test/servers/describe-with.ts';
import { natsServer } from '../../test/servers/nats-server.ts';
import { debugSwitch } from './program-log.ts';

const MAIN = path.join(import.meta.dirname, 'main.ts');
const SIGNING_KEY = 'the-signing-key-of-the-test';
/** What a part of the program that no other part watches would do, on a signal that means nothing else to it. */
const ON_SIGNAL = (code: string): string =>
  `--import=data:text/javascript,${encodeURIComponent(`process.on('SIGWINCH', () => { ${code} })`)}`;

let folder: string;
const ends: (() => void)[] = [];
beforeEach(() => {
  folder = mkdtempSync(path.join(tmpdir(), 'reelgate-log-'));
});
afterEach(() => {
  for (const end of ends.splice(0)) end();
  rmSync(folder, { recursive: true });
});

interface Started {
  /** All that it has printed, line by line. */
  lines(): readonly string[];
  /** The lines as JSON. Throws if one is not. */
  json(): readonly Readonly<Record<string, unknown>>[];
  readonly ended: Promise<number | null>;
  signal(name: NodeJS.Signals): void;
}

function start(service: string, config: object, environment: Readonly<Record<string, string>> = {}): Started {
  const file = path.join(folder, 'reelgate.yaml');
  writeFileSync(file, JSON.stringify(config, undefined, 2));
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', MAIN, service], {
    env: { ...process.env, NODE_OPTIONS: '', REELGATE_CONFIG: file, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let printed = '';
  for (const stream of [child.stdout, child.stderr])
    stream.on('data', (part: Buffer) => {
      printed += part.toString();
    });
  ends.push(() => child.kill('SIGKILL'));
  const lines = (): readonly string[] => printed.split('\n').filter((line) => line !== '');
  return {
    lines,
    json: () => lines().map((line) => JSON.parse(line) as Record<string, unknown>),
    ended: once(child, 'close').then(([code]) => code as number | null),
    signal: (name) => child.kill(name),
  };
}

test('each refused setting of a service of its own is a line of JSON with file, line, key and what would be right', async () => {
  const started = start('billing', { gateway: { limits: { body: '0' } }, tasks: { poll: { max: '0s' } } });

  expect(await started.ended).toBe(1);
  expect(started.json()).toEqual([
    expect.objectContaining({
      level: 50,
      service: 'billing',
      msg: 'reelgate cannot start',
      refused: expect.stringMatching(/reelgate\.yaml:4: gateway\.limits\.body: /),
    }),
    expect.objectContaining({ refused: expect.stringMatching(/reelgate\.yaml:9: tasks\.poll\.max: /) }),
  ]);
});

describeWith(natsServer, 'a service of its own', (bus) => {
  const config = (): object => ({
    data_dir: folder,
    bus: bus(),
    signing_key: SIGNING_KEY,
    media: { listen: '127.0.0.1:0', http: '127.0.0.1:0' },
  });
  const untilOpen = (started: Started): Promise<void> =>
    until(() => started.lines().some((line) => line.includes('plaintext:')));

  test('says in JSON that its port is taken, and ends with 1 as soon as its parts have stopped', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    ends.push(() => taken.close());
    const listen = `127.0.0.1:${(taken.address() as AddressInfo).port}`;
    const started = start('media', { ...config(), media: { listen, http: '127.0.0.1:0' } });

    expect(await started.ended).toBe(1);
    expect(started.json()).toContainEqual(
      expect.objectContaining({
        msg: 'reelgate cannot start',
        err: expect.objectContaining({ message: expect.stringContaining('EADDRINUSE') }),
      }),
    );
    expect(started.json().map(({ msg }) => msg)).not.toContain('a part did not stop in time');
  });

  test.each([
    ['an error that no part caught', "throw new Error('boom')"],
    ['a rejection that no part handled', "void Promise.reject(new Error('boom'))"],
  ])('says in JSON that %s ends it, and ends with 1', async (_what, code) => {
    const started = start('media', config(), { NODE_OPTIONS: ON_SIGNAL(code) });
    await untilOpen(started);

    started.signal('SIGWINCH');

    expect(await started.ended).toBe(1);
    expect(started.json().at(-1)).toMatchObject({
      level: 50,
      service: 'media',
      msg: 'reelgate ends by a fault',
      err: { message: 'boom', stack: expect.stringContaining('boom') },
    });
  });

  test('writes warnings of Node and lines of grpc-js as JSON, without keys', async () => {
    const environment = { REELGATE_LOG: 'debug', GRPC_VERBOSITY: 'DEBUG', GRPC_TRACE: 'all' };
    const started = start(
      'tasks',
      { ...config(), tasks: { listen: '127.0.0.1:0' } },
      {
        ...environment,
        NODE_OPTIONS: ON_SIGNAL("process.emitWarning('a warning', 'TestWarning')"),
      },
    );
    await untilOpen(started);

    started.signal('SIGWINCH');
    await until(() => started.json().some(({ warning }) => warning === 'TestWarning'));

    expect(started.json()).toContainEqual(
      expect.objectContaining({ level: 40, msg: 'Node warns', warning: 'TestWarning', said: 'a warning' }),
    );
    expect(started.json()).toContainEqual(expect.objectContaining({ level: 20, library: 'grpc-js' }));
    expect(started.lines().join('\n')).not.toContain(SIGNING_KEY);
    expect(started.lines().join('\n')).not.toMatch(/Bearer/);
  });
});

describe('the switch of debug lines', () => {
  test.each([
    ['by itself', async (clock: FakeClock) => clock.advance(15 * 60_000)],
    ['when it is used again', async (_clock: FakeClock, toggle: () => void) => toggle()],
  ])('ends them %s, and the level is what it was', async (_how, end) => {
    const clock = fakeClock();
    let level: LogLevel = 'error';
    const log: ProgramLog = {
      ...silentLog,
      level: () => level,
      setLevel: (next) => void (level = next),
      setAccess: () => undefined,
    };
    const { toggle } = debugSwitch(log, clock);

    toggle();
    expect(log.level()).toBe('debug');
    await end(clock, toggle);
    await until(() => log.level() === 'error');
    toggle();
    expect(log.level()).toBe('debug');
  });
});
