import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { setTimeout as wait } from 'node:timers/promises';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { withRelay } from '../harness/relay-config.ts';
import { startRelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import type { RelayUpstream } from '../harness/relay-upstream/relay-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const END_TIMEOUT_MS = 60_000;

/** Short leases, so that the outcome of a killed call is decided soon. */
export function withJobs(upstream: string, gateway: object = {}): (config: TestConfig) => TestConfig {
  return (config) => {
    const made = withRelay({ upstream, nobody: '127.0.0.1:1' })(config);
    return {
      ...made,
      gateway: { ...made.gateway, async: { workers: 4, drain: '3s', ...gateway } } as TestConfig['gateway'],
      tasks: { ...made.tasks, jobs: { lease: '2s' } } as TestConfig['tasks'],
    };
  };
}

export const aChat = (mark: string, words = ''): object => ({
  model: 'solo',
  messages: [{ role: 'user', content: `hello [mark:${mark}] ${words}` }],
  max_tokens: 10,
});

/** Reads a job until it has ended. */
export async function untilEnded(client: HttpCaller, id: string, timeoutMs = END_TIMEOUT_MS): Promise<Answer> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const answer = await client.call('GET', `/get-async?id=${id}`);
    if (['completed', 'failed'].includes((answer.json as { status?: string }).status ?? '')) return answer;
    if (answer.status !== 200 || performance.now() > deadline)
      throw new Error(`${id} does not end: ${answer.status} ${answer.text}`);
    await wait(50);
  }
}

/** The generic asynchronous route in the real program, in each of its shapes. */
export function asyncCallsSuite(
  shape: Shape,
  servers: { readonly bus?: () => string; readonly redis?: () => string; readonly postgres?: () => string } = {},
): void {
  let upstream: RelayUpstream;
  let program: Program;
  let client: HttpCaller;
  const queue = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Answer> =>
    client.call('POST', `/async${path}`, body, headers);

  /** Restarts the gateway alone if it is a process of its own, because the other services must learn how it ended. */
  const restart = async (): Promise<void> => {
    if (shape === 'four processes') await program.killOne('gateway', 0, 'SIGTERM');
    else {
      await program.stop('SIGTERM');
      await program.start();
    }
    await program.ready();
  };

  beforeAll(async () => {
    upstream = await startRelayUpstream();
    const databases = servers.postgres === undefined ? undefined : await newDatabases(servers.postgres());
    program = await newProgram(
      shape,
      { upstream: upstream.host, bus: servers.bus?.(), redis: servers.redis?.(), databases },
      withJobs(upstream.host),
    );
    await program.start();
    client = httpCaller(program.base, KEYS.demo);
  }, TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await upstream?.stop();
  }, TIMEOUT_MS);

  test('a chat is queued, made once, and read as the synchronous route would have answered', async () => {
    const created = await queue('/v1/chat/completions', aChat('plain'));
    expect([created.status, created.json]).toEqual([
      202,
      { id: expect.stringMatching(/^job_[0-9a-v]{26}$/), status: 'queued' },
    ]);

    const { status, json } = await untilEnded(client, (created.json as { id: string }).id);
    const direct = (await client.call('POST', '/v1/chat/completions', aChat('direct'))).json as { choices: unknown };

    expect(status).toBe(200);
    expect(json).toMatchObject({
      status: 'completed',
      status_code: 200,
      content_type: 'application/json',
      result: { model: 'solo', choices: [{ message: { role: 'assistant' } }] },
    });
    expect(Object.keys((json as { result: object }).result).toSorted()).toEqual(Object.keys(direct).toSorted());
    expect(upstream.marked('plain')).toHaveLength(1);
  });

  test('sound is base64', async () => {
    const { json } = await untilEnded(
      client,
      (
        (await queue('/v1/audio/speech', { model: 'solo', input: 'hello [mark:sound]', voice: 'alloy' })).json as {
          id: string;
        }
      ).id,
    );

    const { result, encoding } = json as { result: string; encoding: string };
    expect([encoding, upstream.marked('sound').length]).toEqual(['base64', 1]);
    expect(Buffer.from(result, 'base64').length).toBeGreaterThan(0);
  });

  test('a request that is too large for a message arrives byte for byte', async () => {
    const body = JSON.stringify({ ...aChat('large'), padding: 'x'.repeat(9_000_000) });
    const { json } = await untilEnded(client, ((await queue('/v1/chat/completions', body)).json as { id: string }).id);

    expect(json).toMatchObject({ status: 'completed' });
    expect(upstream.marked('large').map((asked) => asked.body.length - body.length)).toEqual([
      asDifference(upstream.marked('large')[0]?.model),
    ]);
  });

  test("an upstream's refusal is a failed call that is read with 200 and names nothing of the upstream", async () => {
    const { status, json, text } = await untilEnded(
      client,
      ((await queue('/v1/chat/completions', aChat('bad', '[status:400]'))).json as { id: string }).id,
    );

    expect([status, json]).toMatchObject([
      200,
      { status: 'failed', status_code: 400, error: { message: expect.any(String) } },
    ]);
    expect(text).not.toContain(upstream.host);
  });

  test('an id of one family does not exist in the other', async () => {
    const { id } = (await queue('/v1/chat/completions', aChat('family'))).json as { id: string };
    const task = await client
      .create('/v2/video_generation', {
        model: 'Alpha-H3',
        content: [{ type: 'text', text: 'a boat' }],
        duration: 5,
        resolution: '768P',
        ratio: '16:9',
      })
      .catch(() => 'task_0123456789abcdefghijklmnop');

    for (const target of [
      `/v1/videos/${id}`,
      `/v1/videos/${id}/content`,
      `/v2/query/video_generation/${id}`,
      `/get-async?id=${task}`,
    ])
      expect((await client.call('GET', target)).status).toBe(404);
    expect((await httpCaller(program.base, KEYS.other).call('GET', `/get-async?id=${id}`)).status).toBe(404);
  });

  test('a call of an account without the money is refused at once and leaves nothing behind', async () => {
    const poor = httpCaller(program.base, KEYS.poor);
    const body = { ...aChat('poor'), max_tokens: 1_000_000 };

    expect(
      (await poor.call('POST', '/async/v1/chat/completions', body, { 'idempotency-key': 'poor-1' })).json,
    ).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(
      (await poor.call('POST', '/async/v1/chat/completions', body, { 'idempotency-key': 'poor-1' })).json,
    ).toMatchObject({ error: { code: 'insufficient_quota' } });
    expect(upstream.marked('poor')).toEqual([]);
  });

  describe('over a stop', () => {
    test(
      'a running call ends, a waiting call is made afterwards, and a key gives the same answer',
      async () => {
        const slow = await queue('/v1/chat/completions', aChat('slow', '[slow:1200]'), { 'idempotency-key': 'slow-1' });
        const { id } = slow.json as { id: string };
        await until(() => upstream.marked('slow').length > 0);
        const waiting = await Promise.all(
          Array.from({ length: 6 }, (_, index) => queue('/v1/chat/completions', aChat(`wait-${index}`, '[slow:1500]'))),
        );
        await restart();

        expect((await untilEnded(client, id)).json).toMatchObject({ status: 'completed' });
        for (const { json } of waiting)
          expect((await untilEnded(client, (json as { id: string }).id)).json).toMatchObject({ status: 'completed' });
        for (const mark of ['slow', ...waiting.map((_, index) => `wait-${index}`)])
          expect([mark, upstream.marked(mark).length]).toEqual([mark, 1]);
        const again = await queue('/v1/chat/completions', aChat('slow', '[slow:1200]'), {
          'idempotency-key': 'slow-1',
        });
        expect([again.text, again.headers.get('idempotent-replayed')]).toEqual([slow.text, 'true']);
      },
      TIMEOUT_MS,
    );
  });

  test(
    'a running call ends and is charged by its usage, even if all processes get the stop at the same moment',
    async () => {
      const { id } = (await queue('/v1/chat/completions', aChat('together', '[slow:1500]'))).json as { id: string };
      await until(() => upstream.marked('together').length > 0);
      await program.stop('SIGTERM');
      await program.start();

      expect((await untilEnded(client, id)).json).toMatchObject({ status: 'completed' });
      expect(upstream.marked('together')).toHaveLength(1);
    },
    TIMEOUT_MS,
  );

  test('the ledger balances afterwards', async () => {
    expect((await program.command('ledger', 'verify')).json).toMatchObject({
      ok: true,
      sums: { USD: '0' },
    });
  });
}

/** The bytes that a body grows by when the upstream's name of the model replaces the public one. */
function asDifference(model: string | undefined): number {
  return (model ?? '').length - 'solo'.length;
}
