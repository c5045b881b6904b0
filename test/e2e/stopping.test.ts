import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { once } from 'node:events';
import http from 'node:http';
import type { IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { until } from '@reelgate/platform/testing/until';
import { WebSocket } from 'ws';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { withRelay } from '../harness/relay-config.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const TIMEOUT_MS = 120_000;
const LEAD = { lead: '1500ms' };
/** Longer than a stop waited before it had a drain. */
const LONG_MS = 6000;
const RESTART = 1012;
const VIDEO = { model: 'Alpha-H3', seconds: '4', size: '1280x720' };

interface Seen {
  readonly status: number | undefined;
  readonly connection: string | undefined;
  readonly text: string;
}

/** Reads an answer to its end. */
async function read(response: IncomingMessage): Promise<Seen> {
  const parts: Buffer[] = [];
  for await (const part of response) parts.push(part as Buffer);
  return {
    status: response.statusCode,
    connection: response.headers.connection,
    text: Buffer.concat(parts).toString(),
  };
}

function asking(base: string, agent: http.Agent | false = false) {
  return async (method: string, target: string, body?: object, headers: object = {}): Promise<IncomingMessage> => {
    const request = http.request(base + target, {
      method,
      agent,
      headers: { authorization: `Bearer ${KEYS.demo}`, 'content-type': 'application/json', ...headers },
    });
    request.end(body === undefined ? undefined : JSON.stringify(body));
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return response;
  };
}

const chat = (text: string, stream = false): object => ({
  model: 'solo',
  stream,
  messages: [{ role: 'user', content: text }],
});

const refusesConnections = (base: string): Promise<boolean> =>
  new Promise((resolve) => {
    const { hostname, port } = new URL(base);
    const socket = connect(Number(port), hostname);
    socket.once('connect', () => {
      socket.destroy();
      resolve(false);
    });
    socket.once('error', () => {
      resolve(true);
    });
  });

const readyz = async (base: string): Promise<number> => (await fetch(`${base}/readyz`)).status;

describeWith(natsServer, 'four processes', (bus) => {
  let relay: RelayUpstream;
  let upstream: ScriptedUpstream;
  let program: Program;

  beforeAll(async () => {
    [relay, upstream] = await Promise.all([startRelayUpstream(), startScriptedUpstream()]);
    const add = withRelay({ upstream: relay.host, nobody: '127.0.0.1:1' });
    const withLead = (config: TestConfig): TestConfig => {
      const made = add(config);
      return { ...made, gateway: { ...made.gateway, drain: LEAD }, tasks: { ...made.tasks, drain: LEAD } };
    };
    program = await newProgram('four processes', { upstream: upstream.host, bus: bus() }, withLead);
    await program.start();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await Promise.all([relay?.stop(), upstream?.stop()]);
  }, TIMEOUT_MS);

  describe('a gateway that gets SIGTERM', () => {
    const kept = new http.Agent({ keepAlive: true, maxSockets: 1 });
    let during: Readonly<Record<'public' | 'admin', number>>;
    let taken: Seen;
    let stream: Promise<Seen>;
    let slow: Promise<Seen>;
    let waiting: Promise<Seen>;
    let session: Promise<number>;
    let last: Seen;
    let code: number | null;

    beforeAll(async () => {
      const [ask, askKept] = [asking(program.base), asking(program.base, kept)];
      const demo = httpCaller(program.base, KEYS.demo);
      const taskId = await demo.create('/v1/videos', { ...VIDEO, prompt: '[gate]waits' });
      await read(await askKept('GET', '/v1/models'));
      stream = ask('POST', '/v1/chat/completions', chat(`[silent:${LONG_MS}]`, true)).then(read);
      slow = ask('POST', '/v1/chat/completions', chat(`[mark:slow][slow:${LONG_MS}]`)).then(read);
      waiting = ask('GET', `/v1/videos/${taskId}`, undefined, { prefer: 'wait=60' }).then(read);
      const socket = new WebSocket(`${program.base.replace('http', 'ws')}/v1/realtime?model=solo`, {
        headers: { authorization: `Bearer ${KEYS.demo}` },
      });
      session = once(socket, 'close').then(([closed]) => closed as number);
      await Promise.all([once(socket, 'open'), until(() => relay.marked('slow').length === 1)]);

      const ended = program.signal('gateway', 'SIGTERM');
      await until(async () => (await readyz(program.base)) === 503);
      const admin = `http://${program.config.gateway.admin}`;
      during = { public: await readyz(program.base), admin: await readyz(admin) };
      taken = await read(await ask('POST', '/v1/chat/completions', chat('hello')));
      await until(() => refusesConnections(program.base));
      last = await read(await askKept('GET', '/v1/models'));
      code = await ended;
    }, TIMEOUT_MS);
    afterAll(async () => {
      kept.destroy();
      program.startOne('gateway');
      await program.ready();
    }, TIMEOUT_MS);

    test('is not ready at once, on the public port and on the admin port', () => {
      expect(during).toEqual({ public: 503, admin: 503 });
    });

    test('takes requests for the lead, and closes their connections', () => {
      expect(taken).toMatchObject({ status: 200, connection: 'close' });
    });

    test('answers the last request of a connection that was idle, after it accepts no more', () => {
      expect(last).toMatchObject({ status: 200, connection: 'close' });
    });

    test('lets a stream and a slow call run to their end', async () => {
      expect((await stream).text).toMatch(/data: \[DONE\]\n\n$/);
      expect(await slow).toMatchObject({ status: 200, connection: 'close' });
    });

    test('answers a waiting read with the present state', async () => {
      const { status, text } = await waiting;
      expect({ status, task: JSON.parse(text) as object }).toMatchObject({
        status: 200,
        task: { status: expect.stringMatching(/^(queued|in_progress)$/) as unknown },
      });
    });

    test('closes a realtime session, so that the client opens it elsewhere', async () => {
      expect(await session).toBe(RESTART);
    });

    test('ends by itself', () => {
      expect(code).toBe(0);
    });
  });

  test.each([
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const)(
    'a second signal, %s, ends a process that drains at once',
    async (second, expected) => {
      const ask = asking(program.base);
      const stream = ask('POST', '/v1/chat/completions', chat(`[mark:${second}][silent:30000]`, true)).then(read);
      const cut = expect(stream).rejects.toThrow();
      await until(() => relay.marked(second).length === 1);

      const ended = program.signal('gateway', 'SIGTERM');
      await until(async () => (await readyz(program.base)) === 503);
      void program.signal('gateway', second);

      expect(await ended).toBe(expected);
      await cut;
      program.startOne('gateway');
      await program.ready();
    },
    TIMEOUT_MS,
  );

  test(
    'a tasks service that gets SIGTERM takes creates for the lead, and answers one with a slow upstream',
    async () => {
      const demo = httpCaller(program.base, KEYS.demo);
      const mark = `[mark:slow-create][slow:${LONG_MS}]`;
      const slow = demo.call('POST', '/v1/videos', { ...VIDEO, prompt: mark });
      await until(() => upstream.asked.includes('slow-create'));

      const ended = program.signal('tasks', 'SIGTERM');
      await until(async () => (await readyz(`http://${program.config.tasks.http}`)) === 503);
      const during = await demo.call('POST', '/v1/videos', { ...VIDEO, prompt: 'meanwhile' });

      expect([during.status, (await slow).status]).toEqual([200, 200]);
      expect(await ended).toBe(0);
    },
    TIMEOUT_MS,
  );
});
