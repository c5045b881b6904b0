import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { WebSocket } from 'ws';
import { httpCaller } from '../harness/client.ts';
import { RELAY_KEYS } from '../harness/relay-upstream/identities.ts';
import { KEYS, SIGNING_KEY, UPSTREAM_KEY } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { aChat, untilEnded } from './async-calls.ts';
import { startLoggedProgram } from './logged-program.ts';
import type { LoggedProgram } from './logged-program.ts';

const TIMEOUT_MS = 120_000;
const OUTPUT_KEPT = 16 * 1024 * 1024;
const PICTURE = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png'));
/** In every prompt and instruction of this test. */
const PROMPT = 'planted-prompt-of-a-client';
/** In the query of every address that a client or an upstream signs. */
const QUERY = 'planted-signature-in-a-query';
const WRONG_KEY = 'sk-planted-key-that-nothing-knows';

const anOrder = (words: string, ...more: readonly object[]): object => ({
  model: 'Alpha-H3',
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
  content: [{ type: 'text', text: `${PROMPT} ${words}` }, ...more],
});

const aPicture = (url: string): object => ({ type: 'image_url', role: 'first_frame', image_url: { url } });

describeWith(natsServer, 'the log lines of four processes at the level debug', (bus) => {
  let logged: LoggedProgram;

  beforeAll(async () => {
    logged = await startLoggedProgram(bus(), { environment: { REELGATE_LOG: 'debug' }, outputKept: OUTPUT_KEPT });
  }, TIMEOUT_MS);
  afterAll(async () => logged?.end(), TIMEOUT_MS);

  const movesOf = (taskId: string): readonly (readonly unknown[])[] =>
    logged
      .lines({ taskId })
      .filter(({ msg }) => msg !== 'request')
      .map(({ service, msg }) => [service, msg]);

  test(
    'name each move of a task once, with the id of the request that created it',
    async () => {
      const headers = { 'x-request-id': 'moves/1' };
      const taskId = await logged.demo.create('/v2/video_generation', anOrder('a boat [queue:400][gate]'), headers);
      await logged.demo.finish(taskId, 'in_progress');
      logged.openGate();
      await logged.demo.finish(taskId);
      await until(() => logged.lines({ taskId, msg: 'a task was settled' }).length > 0);

      const moves = movesOf(taskId);
      for (const message of [
        'a task was created',
        'an attempt was started',
        'an attempt was accepted',
        'a task moved',
        'a task ended',
        'a task was settled',
      ])
        expect(moves.filter(([, msg]) => msg === message)).toEqual([['tasks', message]]);
      expect(moves).toContainEqual(['billing', 'a hold was placed']);
      expect(moves).toContainEqual(['billing', 'a hold was settled']);
      expect(moves).toContainEqual(['media', 'a result was stored']);
      const inTasks = logged.lines({ taskId, service: 'tasks' });
      expect(inTasks.filter(({ requestId }) => requestId !== 'moves/1')).toEqual([]);
      for (const msg of ['a result was stored', 'a hold was settled'])
        expect(logged.lines({ taskId, msg })[0]).toMatchObject({ requestId: 'moves/1' });
    },
    TIMEOUT_MS,
  );

  test(
    'name each move of an asynchronous call once',
    async () => {
      const made = await logged.demo.call('POST', '/async/v1/chat/completions', aChat('moves', PROMPT));
      const { id: taskId } = made.json as { readonly id: string };
      await untilEnded(logged.demo, taskId);
      await until(() => logged.lines({ taskId, msg: 'a job ended' }).length > 0);

      expect(movesOf(taskId).filter(([service]) => service === 'tasks')).toEqual([
        ['tasks', 'a job was created'],
        ['tasks', 'a job waits in the queue'],
        ['tasks', 'a job was started'],
        ['tasks', 'a job ended'],
      ]);
    },
    TIMEOUT_MS,
  );

  test(
    'hold no prompt, no key, no signed query and no address of an upstream, whatever fails',
    async () => {
      const create = (words: string, ...more: readonly object[]) =>
        logged.demo.call('POST', '/v2/video_generation', anOrder(words, ...more));
      const signed = `http://${logged.upstreams[0] ?? ''}/none.png?signature=${QUERY}`;

      // creates: done, refused with words of the upstream, with references that cannot be fetched, and broken
      const taskId = await logged.demo.create('/v2/video_generation', anOrder('a boat'));
      const finished = await logged.demo.finish(taskId);
      await Promise.all([
        create('[quote:401]'),
        create('[quote:422]'),
        create('[quote:500]'),
        create('[reset]'),
        create('a reference', aPicture(signed)),
        create('a reference', aPicture(`http://10.0.0.1/a.png?signature=${QUERY}`)),
        create('a reference', aPicture(`http://no-such-host.invalid/a.png?signature=${QUERY}`)),
        create('', aPicture(`data:image/png;base64,${Buffer.from(PROMPT).toString('base64')}`)),
        logged.demo.call('POST', '/v2/video_generation', `{"model": "Alpha-H3", "content": "${PROMPT}`),
        logged.demo.call('POST', '/v2/video_generation', { model: PROMPT, content: PROMPT }),
        logged.demo.call('GET', `/v1/videos?signature=${QUERY}`),
        logged.demo.call('GET', `/${QUERY}`),
        // what a client sends in the place of an id
        logged.demo.call('GET', `/v1/videos/${WRONG_KEY}`),
        logged.demo.call('GET', `/v1/videos/${WRONG_KEY}/content`),
        logged.demo.call('DELETE', `/v1/videos/${WRONG_KEY}`),
        logged.demo.call('GET', `/v2/query/video_generation/${WRONG_KEY}`),
        logged.demo.call('GET', `/get-async?id=${WRONG_KEY}`),
        logged.demo.call('GET', `/v1/webhook_endpoints/${WRONG_KEY}`),
        logged.demo.call('GET', `/v1/models/${WRONG_KEY}`),
      ]);
      for (const words of ['[link:dead]', '[link:html]', '[link:torn]', '[poll:reset]', '[poll:html]'])
        await logged.demo.finish(await logged.demo.create('/v2/video_generation', anOrder(words)));

      // the bytes of a result, by its link and by a forged one
      const { json } = await logged.demo.call('GET', `/v2/query/video_generation/${taskId}`);
      const link = /http[^"]+\/ximg\/[^"]+/.exec(JSON.stringify(json))?.[0] ?? '';
      expect(link).not.toBe('');
      expect((await fetch(link)).status).toBe(200);
      await fetch(link.replace(/\?.*$/, `?sig=${QUERY}`));
      expect(finished.status).toBe(200);

      // an upload
      const form = new FormData();
      form.set('model', 'Alpha-H3');
      form.set('prompt', PROMPT);
      form.set('seconds', '4');
      form.set('input_reference', new Blob([PICTURE], { type: 'image/png' }), `${PROMPT}.png`);
      await fetch(`${logged.program.base}/v1/videos`, {
        method: 'POST',
        headers: { authorization: `Bearer ${KEYS.demo}` },
        body: form,
      });

      // relayed calls
      for (const words of ['', '[status:400]', '[status:401]', '[status:500]', '[cut]'])
        await logged.demo
          .call('POST', '/v1/chat/completions', aChat('relay', `${PROMPT} ${words}`))
          .catch(() => undefined);
      await logged.demo.call('POST', `/v1beta/models/gemini:generateContent?key=${WRONG_KEY}`, {
        contents: [{ parts: [{ text: PROMPT }] }],
      });

      // a realtime session, and one with a wrong key
      const session = new WebSocket(
        `${logged.program.base.replace('http', 'ws')}/v1/realtime?model=solo&sig=${QUERY}`,
        {
          headers: { authorization: `Bearer ${KEYS.demo}` },
        },
      );
      await once(session, 'open');
      session.send(JSON.stringify({ type: 'response.create', response: { instructions: PROMPT } }));
      await once(session, 'message');
      session.close();
      await once(session, 'close');
      await httpCaller(logged.program.base, WRONG_KEY).call('GET', '/v1/videos');

      // the lines of the last requests are there
      await until(() => logged.lines({ msg: 'request', route: '/v1/realtime' }).length > 0);
      await until(() => logged.lines({ msg: 'request', route: '/v1/videos', status: 401 }).length > 0);

      // creates, polls, calls and references while no upstream is there
      const [running, fetched] = [anOrder('a boat [gate]'), anOrder('a reference', aPicture(signed))];
      await logged.demo.create('/v2/video_generation', running);
      await logged.stopUpstreams();
      await Promise.all([
        create('a boat'),
        logged.demo.call('POST', '/v2/video_generation', fetched),
        logged.demo.call('POST', '/v1/chat/completions', aChat('away', PROMPT)),
      ]);
      await until(() => logged.lines({ msg: 'a reference was not fetched', service: 'media' }).length > 3);

      const own = [new URL(link).search.slice(1), ...new URL(link).searchParams.values()].filter(
        (value) => value.length > 12,
      );
      const planted = [
        PROMPT,
        QUERY,
        WRONG_KEY,
        SIGNING_KEY,
        UPSTREAM_KEY,
        'link=',
        ...logged.upstreams,
        ...logged.upstreams.map((host) => `"port":${new URL(`http://${host}`).port}`),
        ...Object.values(KEYS),
        ...Object.values(RELAY_KEYS),
        ...own,
      ];
      const found = logged.program
        .output()
        .split('\n')
        .filter((line) => planted.some((secret) => line.includes(secret)));
      expect(found).toEqual([]);
    },
    TIMEOUT_MS,
  );
});
