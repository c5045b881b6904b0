import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { aChat, untilEnded, withJobs } from './async-calls.ts';

const TIMEOUT_MS = 60_000;
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
  let upstream: ScriptedUpstream;
  let relay: RelayUpstream;
  let program: Program;
  let demo: HttpCaller;

  beforeAll(async () => {
    [upstream, relay] = await Promise.all([startScriptedUpstream(), startRelayUpstream()]);
    program = await newProgram('four processes', { upstream: upstream.host, bus: bus() }, withJobs(relay.host));
    await program.start();
    demo = httpCaller(program.base, KEYS.demo);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await Promise.all([upstream?.stop(), relay?.stop()]);
  }, TIMEOUT_MS);

  /** The services whose lines have the id, sorted. */
  const servicesWith = (requestId: string): readonly string[] =>
    [
      ...new Set(
        linesOf(program.output()).flatMap(({ requestId: id, service }) => (id === requestId ? [String(service)] : [])),
      ),
    ].toSorted();
  const untilIn = async (requestId: string, services: readonly string[]): Promise<void> => {
    await until(() => services.every((service) => servicesWith(requestId).includes(service)));
  };

  test('one search finds a create with a picture in all four services', async () => {
    const answer = await demo.call('POST', '/v2/video_generation', WITH_A_PICTURE, { 'x-request-id': 'create/1' });

    expect(answer.text).toContain('task_id');
    await untilIn('create/1', ['billing', 'gateway', 'media', 'tasks']);
  });

  test('the work of an asynchronous call has the id of the request that made it', async () => {
    const made = await demo.call('POST', '/async/v1/chat/completions', aChat('traced'), { 'x-request-id': 'job/1' });
    await untilEnded(demo, (made.json as { id: string }).id);

    await until(() =>
      linesOf(program.output()).some(
        ({ requestId, method }) => requestId === 'job/1' && method === 'JobService/FinishJob',
      ),
    );
    expect(servicesWith('job/1')).toEqual(expect.arrayContaining(['billing', 'gateway', 'tasks']));
  });

  test('SIGUSR2 adds the lines of reads, and a second one ends them', async () => {
    const read = async (requestId: string): Promise<void> => {
      await demo.call('GET', '/v1/videos', undefined, { 'x-request-id': requestId });
      await untilIn(requestId, ['gateway']);
    };
    const signal = async (message: string): Promise<void> => {
      const said = (): number => linesOf(program.output()).filter(({ msg }) => String(msg).startsWith(message)).length;
      for (const pid of program.pids()) process.kill(pid, 'SIGUSR2');
      await until(() => said() === program.pids().length);
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
    for (const secret of [...Object.values(KEYS), UPSTREAM_KEY]) expect(program.output()).not.toContain(secret);
  });
});

function linesOf(output: string): readonly Readonly<Record<string, unknown>>[] {
  return output.split('\n').flatMap((line) => {
    try {
      return line.startsWith('{') ? [JSON.parse(line) as Record<string, unknown>] : [];
    } catch {
      // The line is not whole yet.
      return [];
    }
  });
}
