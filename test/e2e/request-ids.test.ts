import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { aChat, untilEnded } from './async-calls.ts';
import { startLoggedProgram } from './logged-program.ts';
import type { LoggedProgram } from './logged-program.ts';

const TIMEOUT_MS = 120_000;
const PICTURE = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png'));
const WITH_A_PICTURE = {
  model: 'Alpha-H3',
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
  content: [
    { type: 'text', text: 'a red boat' },
    {
      type: 'image_url',
      role: 'first_frame',
      image_url: { url: `data:image/png;base64,${PICTURE.toString('base64')}` },
    },
  ],
};

describeWith(natsServer, 'the id of a request in the lines of four processes', (bus) => {
  let logged: LoggedProgram;

  beforeAll(async () => {
    logged = await startLoggedProgram(bus());
  }, TIMEOUT_MS);
  afterAll(async () => logged?.end(), TIMEOUT_MS);

  /** The services whose lines have the id, sorted. */
  const servicesWith = (requestId: string): readonly string[] =>
    [...new Set(logged.lines({ requestId }).map(({ service }) => String(service)))].toSorted();
  const untilIn = async (requestId: string, services: readonly string[]): Promise<void> => {
    await until(() => services.every((service) => servicesWith(requestId).includes(service)));
  };

  test('one search finds a create with a picture in all four services', async () => {
    const answer = await logged.demo.call('POST', '/v2/video_generation', WITH_A_PICTURE, {
      'x-request-id': 'create/1',
    });

    expect(answer.text).toContain('task_id');
    await untilIn('create/1', ['billing', 'gateway', 'media', 'tasks']);
  });

  test('the work of an asynchronous call has the id of the request that made it', async () => {
    const made = await logged.demo.call('POST', '/async/v1/chat/completions', aChat('traced'), {
      'x-request-id': 'job/1',
    });
    await untilEnded(logged.demo, (made.json as { id: string }).id);

    await until(() => logged.lines({ requestId: 'job/1', method: 'JobService/FinishJob' }).length > 0);
    expect(servicesWith('job/1')).toEqual(expect.arrayContaining(['billing', 'gateway', 'tasks']));
  });

  test('SIGUSR2 adds the lines of reads, and a second one ends them', async () => {
    const read = async (requestId: string): Promise<void> => {
      await logged.demo.call('GET', '/v1/videos', undefined, { 'x-request-id': requestId });
      await untilIn(requestId, ['gateway']);
    };
    const signal = async (message: string): Promise<void> => {
      const said = (): number => logged.lines().filter(({ msg }) => String(msg).startsWith(message)).length;
      for (const pid of logged.program.pids()) process.kill(pid, 'SIGUSR2');
      await until(() => said() === logged.program.pids().length);
    };

    await read('read/1');
    expect(servicesWith('read/1')).toEqual(['gateway']);
    await signal('debug lines are written');
    await read('read/2');
    await untilIn('read/2', ['tasks']);
    await signal('debug lines end');
    await read('read/3');
    expect(servicesWith('read/3')).toEqual(['gateway']);
  });

  test('no line has a key', () => {
    for (const secret of [...Object.values(KEYS), UPSTREAM_KEY]) expect(logged.program.output()).not.toContain(secret);
  });
});
