import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { TOKEN } from '../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';
import type { Answer } from '../../testing/http-call.ts';
import { formBody } from '../../testing/multipart-form.ts';
import { json, startRelayUpstream } from '../../testing/scripted-relay-upstream.ts';
import type { RelayUpstream, Reply } from '../../testing/scripted-relay-upstream.ts';
import { until, untilAfter } from '@reelgate/platform/testing/until';

let under: GatewayUnderTest;
let upstream: RelayUpstream;
beforeAll(async () => {
  upstream = await startRelayUpstream();
  under = await startGatewayUnderTest({ channels: [aRelayChannel({ base_url: `${upstream.url}/v1` })] });
});
afterAll(async () => {
  await under.stop();
  await upstream.stop();
});
beforeEach(async () => {
  await untilAfter(under.clock, () => under.calls.open.size === 0);
  upstream.seen.length = 0;
  upstream.reply = json(CHAT_ANSWER);
  for (const list of [under.calls.placed, under.calls.settled, under.jobs.calls]) list.length = 0;
  under.jobs.jobs.clear();
  under.media.kept.clear();
  under.calls.refusal = undefined;
});

const CHAT = '/async/v1/chat/completions';
const chat = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };
const CHAT_ANSWER = {
  id: 'chatcmpl-1',
  model: 'upstream-model-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'hi' } }],
  usage: { prompt_tokens: 9, completion_tokens: 2 },
};

/** Waits until the job has ended, and reads it. */
async function ended(id: string): Promise<Answer> {
  await until(() => under.jobs.jobs.get(id)?.end !== undefined);
  return read(id);
}
const read = (id: string, token = TOKEN): Promise<Answer> => call(under.url, 'GET', `/get-async?id=${id}`, { token });
const queue = (options: Parameters<typeof call>[3] = { body: chat }, path = CHAT): Promise<Answer> =>
  call(under.url, 'POST', path, options);

/** Queues a call whose upstream answers when the test says so, and reads it with this wait. */
async function waitingRead(prefer: string): Promise<{ id: string; waiting: Promise<Answer>; answer: () => void }> {
  let answer = (): void => undefined;
  upstream.reply = (request, response) => {
    answer = () => {
      json(CHAT_ANSWER)(request, response);
    };
  };
  const { id } = (await queue()).json;
  await until(() => upstream.seen.length === 1);
  const waiting = call(under.url, 'GET', `/get-async?id=${id}`, { headers: { prefer } });
  await until(() => under.jobs.calls.includes(`getJob ${id}`));
  return {
    id,
    waiting,
    answer: () => {
      answer();
    },
  };
}

test('a call that is made later is charged under its label, which its upstream does not get', async () => {
  const { id } = (await queue({ body: chat, headers: { 'reelgate-label': 'spring' } })).json;
  await ended(id);

  expect(under.calls.placed.map(({ label }) => label)).toEqual(['spring', 'spring']);
  expect(upstream.seen[0]?.headers).not.toHaveProperty('reelgate-label');
});

describe('a queued call', () => {
  test('is answered with its id at once, and made unchanged by a worker', async () => {
    const created = await queue(
      { body: '{ "model" : "some-model",  "n":1 }', headers: { 'x-stainless-lang': 'js' } },
      `${CHAT}?beta=1&key=secret`,
    );

    expect(created.status).toBe(202);
    expect(created.json).toEqual({ id: under.jobs.single().id, status: 'queued' });
    expect(created.headers).toMatchObject({ 'retry-after': '2', 'openai-poll-after-ms': '2000' });
    const done = await ended(created.json.id);
    expect(upstream.seen).toHaveLength(1);
    expect(upstream.seen[0]).toMatchObject({
      method: 'POST',
      url: '/v1/chat/completions?beta=1',
      headers: { authorization: 'Bearer upstream-secret-key', 'x-stainless-lang': 'js' },
    });
    expect(upstream.seen[0]?.body.toString()).toBe('{ "model" : "upstream-model-2026",  "n":1 }');
    expect([done.status, done.headers['retry-after']]).toEqual([200, undefined]);
    expect(done.json).toEqual({
      id: created.json.id,
      status: 'completed',
      status_code: 200,
      content_type: 'application/json',
      result: { ...CHAT_ANSWER, model: 'some-model' },
    });
  });

  test('is held under its id before it is queued, held again without effect, started, and charged once', async () => {
    const {
      json: { id },
    } = await queue();
    await ended(id);
    await under.settled(1);

    expect(under.calls.placed.map(({ callId }) => callId)).toEqual([id, id]);
    expect(under.calls.placed[0]?.lapsesAt?.seconds).toBeGreaterThan(
      BigInt(Math.floor(under.clock.now() / 1000) + 3600),
    );
    expect(under.calls.settled).toMatchObject([{ callId: id, basis: 1, usage: { inputTokens: 9n, outputTokens: 2n } }]);
    expect(under.jobs.calls.filter((name) => !name.startsWith('getJob'))).toEqual([
      'createJob',
      `returnJob untouched 0 ${id}`,
      `markJobStarted ${id}`,
      `finishJob ${id}`,
    ]);
  });

  test('can be read while it waits, with a hint when to poll again', async () => {
    upstream.reply = () => undefined;
    const {
      json: { id },
    } = await queue();

    const answer = await read(id);
    expect(answer.status).toBe(200);
    expect(['queued', 'in_progress']).toContain(answer.json.status);
    expect(answer.headers).toMatchObject({ 'retry-after': '2', 'openai-poll-after-ms': '2000' });
    await until(() => upstream.seen.length > 0);
    under.jobs.lost.add(id);
    await under.clock.advance(1000);
    await until(() => upstream.left() > 0);
  });

  test('is waited for on request, and read as soon as it ends', async () => {
    const { waiting, answer } = await waitingRead('wait=60');
    answer();
    const read = await waiting;

    expect([read.json.status, read.headers['preference-applied'], read.headers['retry-after']]).toEqual([
      'completed',
      'wait=60',
      undefined,
    ]);
    expect(under.jobs.calls.filter((name) => name.startsWith('getJob'))).toHaveLength(2);
  });

  test('is read in its current state when the time to wait is over', async () => {
    const { id, waiting, answer } = await waitingRead('wait=3');
    for (let second = 0; second < 4; second += 1) await under.clock.advance(1000);

    expect((await waiting).json).toEqual({ id, status: 'in_progress' });
    answer();
    await ended(id);
  });
  test('does not exist for another account; a job is not a task, and a task is not a job', async () => {
    under.billing.tokens.set('rg_token-of-a-rival', { accountId: 'rival' });
    const {
      json: { id },
    } = await queue();

    for (const [name, token] of [
      [id, 'rg_token-of-a-rival'],
      ['task_0123456789abcdefghjkmnpqrs', TOKEN],
      ['job_unknown', TOKEN],
      ['../x', TOKEN],
    ] as const) {
      const answer = await read(name, token);
      expect([answer.status, answer.json.error.code, answer.json.error.type]).toEqual([
        404,
        'task_not_found',
        'invalid_request_error',
      ]);
    }
    expect((await call(under.url, 'GET', `/v1/videos/${String(id)}`)).json.error.code).toBe('task_not_found');
  });

  test('is one job under its key: a replay has the same answer, and another body is refused', async () => {
    const keyed = (body: unknown) => ({ body, headers: { 'idempotency-key': 'k1' } });
    const first = await queue(keyed('{"model":"some-model","a":1,"b":2}'));
    const again = await queue(keyed('{ "b": 2, "model": "some-model", "a": 1 }'));

    expect([again.status, again.text, again.headers['idempotent-replayed']]).toEqual([202, first.text, 'true']);
    expect(first.headers['idempotent-replayed']).toBeUndefined();
    for (const [path, body] of [
      [CHAT, { ...chat, n: 2 }],
      [`${CHAT}?a=1`, '{"model":"some-model","a":1,"b":2}'],
      ['/async/v1/embeddings', '{"model":"some-model","a":1,"b":2}'],
    ] as const) {
      expect((await queue(keyed(body), path)).json.error.code).toBe('idempotency_key_reused');
    }
    expect(under.jobs.jobs.size).toBe(1);
    expect((await queue({ body: chat, headers: { 'idempotency-key': 'a b' } })).status).toBe(400);
  });

  test('as a form is the same under its key with any boundary, and another if a byte of a file differs', async () => {
    const form = (boundary: string, file: string) => ({
      body: formBody(boundary, [
        { name: 'model', content: 'some-model' },
        { name: 'file', content: file, fileName: 'a.mp3', type: 'audio/mpeg' },
      ]),
      headers: { 'content-type': `multipart/form-data; boundary=${boundary}`, 'idempotency-key': 'k2' },
    });
    upstream.reply = json({ text: 'hello' });
    const first = await queue(form('one', 'sound'), '/async/v1/audio/transcriptions');

    expect((await queue(form('two', 'sound'), '/async/v1/audio/transcriptions')).json).toEqual(first.json);
    expect((await queue(form('one', 'noise'), '/async/v1/audio/transcriptions')).json.error.code).toBe(
      'idempotency_key_reused',
    );
    expect((await ended(first.json.id)).json.result).toEqual({ text: 'hello' });
    expect(upstream.seen[0]?.headers['content-type']).toBe('multipart/form-data; boundary=one');
    expect(upstream.seen[0]?.body.toString()).toBe(
      form('one', 'sound').body.toString().replace('some-model', 'upstream-model-2026'),
    );
  });
});

describe('a webhook URL', () => {
  const HOOK = 'https://studio.example/hook?a=1&b=2';
  const inQuery = `webhook_url=${encodeURIComponent(HOOK)}`;
  const form = (boundary: string) => ({
    body: formBody(boundary, [
      { name: 'model', content: 'some-model' },
      { name: 'file', content: 'RIFF', fileName: 'a.wav', type: 'audio/wav' },
    ]),
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  });

  test.each<[string, Parameters<typeof call>[3], string, string]>([
    ['in a body', { body: `{ "model":"some-model", "webhook_url" : "${HOOK}" ,"n":1.0 }` }, CHAT, ''],
    ['in a query', { body: '{ "model":"some-model" ,"n":1.0 }' }, `${CHAT}?beta=1&${inQuery}`, '?beta=1'],
    ['alone in a query', { body: '{ "model":"some-model" ,"n":1.0 }' }, `${CHAT}?${inQuery}`, ''],
  ])('%s reaches the tasks service, and no upstream', async (_what, options, path, search) => {
    const { json } = await queue(options, path);
    const { call: stored, webhookUrl } = under.jobs.single().request;

    expect([webhookUrl, stored?.query]).toEqual([HOOK, search.slice(1)]);
    expect(Buffer.from(stored?.body.value as Uint8Array).toString()).toBe('{ "model":"some-model" ,"n":1.0 }');
    await ended((json as { id: string }).id);
    expect(upstream.seen[0]?.url).toBe(`/v1/chat/completions${search}`);
    expect(upstream.seen[0]?.body.toString()).toBe('{ "model":"upstream-model-2026" ,"n":1.0 }');
  });
  test('in the query of a form leaves the form as it is', async () => {
    const { json } = await queue(form('one'), `/async/v1/audio/transcriptions?${inQuery}`);

    expect(under.jobs.single().request.webhookUrl).toBe(HOOK);
    expect(Buffer.from(under.jobs.single().request.call?.body.value as Uint8Array)).toEqual(form('one').body);
    await ended((json as { id: string }).id);
  });
  test('of null is none', async () => {
    const { json } = await queue({ body: '{"webhook_url":null,"model":"some-model"}' });

    expect(under.jobs.single().request.webhookUrl).toBe('');
    await ended((json as { id: string }).id);
    expect(upstream.seen[0]?.body.toString()).toBe('{"model":"upstream-model-2026"}');
  });
  test.each<[string, object, string]>([
    ['twice', { ...chat, webhook_url: HOOK }, `${CHAT}?${inQuery}`],
    ['twice in the query', chat, `${CHAT}?${inQuery}&${inQuery}`],
    ['that is no text', { ...chat, webhook_url: 1 }, CHAT],
    ['that is empty', chat, `${CHAT}?webhook_url=`],
  ])('%s is refused', async (_what, body, path) => {
    const { status, json } = await queue({ body }, path);

    expect([status, json.error.code, json.error.param]).toEqual([400, 'invalid_webhook_url', 'webhook_url']);
    expect(under.jobs.calls).toEqual([]);
  });
  test('belongs to the request of an idempotency key', async () => {
    const headers = { 'idempotency-key': 'k-hook' };
    const { json } = await queue({ body: chat, headers }, `${CHAT}?${inQuery}`);
    const [same, none, other] = [
      await queue({ body: chat, headers }, `${CHAT}?${inQuery}`),
      await queue({ body: chat, headers }),
      await queue({ body: chat, headers }, `${CHAT}?webhook_url=https://other.example`),
    ];

    expect([same.status, same.json.id]).toEqual([202, json.id]);
    expect([none, other].map((answer) => answer.json.error.code)).toEqual([
      'idempotency_key_reused',
      'idempotency_key_reused',
    ]);
    await ended(json.id);
  });
});

describe('an answer', () => {
  const SOUND = Buffer.from([0xff, 0xfb, 0x90, 0x00, 0x01]);
  const bytes =
    (body: Buffer | string, type: string, status = 200): Reply =>
    (_request, response) => {
      response.writeHead(status, { 'content-type': type }).end(body);
    };
  const answered = async (body: Buffer | string, type: string, status = 200): Promise<Answer> => {
    upstream.reply = bytes(body, type, status);
    const path = `/async/v1/audio/${type.startsWith('text/') ? 'transcriptions' : 'speech'}`;
    return ended((await queue({ body: { model: 'some-model', input: 'x' } }, path)).json.id);
  };

  test.each<[string, Buffer | string, string, object]>([
    ['of bytes is base64', SOUND, 'audio/mpeg', { encoding: 'base64', result: SOUND.toString('base64') }],
    ['of text is a string', 'a "line"\n狐狸 🦊', 'text/plain; charset=utf-8', { result: 'a "line"\n狐狸 🦊' }],
    [
      'of JSON stays unchanged',
      '{"audio": 12345678901234567890, "s": "é"}',
      'application/json',
      { result: { audio: 12345678901234567890, s: 'é' } },
    ],
    ['of invalid text is base64', Buffer.from([0xc3, 0x28]), 'text/plain', { encoding: 'base64', result: 'wyg=' }],
  ])('%s', async (_what, body, type, shown) => {
    const { json: answer } = await answered(body, type);

    expect(answer).toEqual({
      id: under.jobs.single().id,
      status: 'completed',
      status_code: 200,
      content_type: type,
      ...shown,
    });
  });

  test('without a body is a failure', async () => {
    const { json: answer } = await answered('', 'audio/mpeg');

    expect([answer.status, answer.status_code, answer.error.code]).toEqual(['failed', 502, 'upstream_failed']);
  });

  test('keeps the digits of its numbers', async () => {
    expect((await answered('{"audio": 12345678901234567890}', 'application/json')).text).toContain(
      '"result":{"audio": 12345678901234567890}}',
    );
  });

  test.each([
    ['binary', 'audio/mpeg', Buffer.alloc(200_001, 7)],
    ['text', 'text/plain', Buffer.from('狐狸🦊'.repeat(20_000))],
    ['JSON', 'application/json', Buffer.from(JSON.stringify({ audio: Array.from({ length: 20_000 }, (_, n) => n) }))],
  ])(
    'with many bytes of %s is stored with media as long as the job, and is read back whole',
    async (_what, type, body) => {
      const { json: answer } = await answered(body, type);

      expect([...under.media.kept.values()]).toEqual([{ accountId: 'demo', bytes: body, keepMs: 90 * 24 * 3_600_000 }]);
      const shown =
        type === 'audio/mpeg'
          ? Buffer.from(answer.result, 'base64')
          : Buffer.from(type === 'text/plain' ? answer.result : JSON.stringify(answer.result));
      expect(shown.equals(body)).toBe(true);
      under.media.kept.clear();
      expect((await read(answer.id)).json.error.code).toBe('result_expired');
    },
  );

  test.each([
    [
      400,
      'application/json',
      '{"error":{"message":"no such voice","code":"invalid_voice"}}',
      { code: 'invalid_voice', message: 'no such voice' },
    ],
    [
      500,
      'application/json',
      '{"error":{"message":"oops","code":"overloaded"}}',
      { code: 'overloaded', message: 'oops' },
    ],
    [422, 'text/plain', 'no', { code: 'upstream_refused' }],
  ])('with %i is a failure that is read with 200', async (status, type, body, error) => {
    const answer = await answered(body, type, status);

    expect(answer.json).toMatchObject({ status: 'failed', status_code: status });
    expect(answer.status).toBe(200);
    expect(answer.json).toMatchObject({ error, result: { error } });
  });

  test('that is larger than the limit of a body is a failure, and costs nothing', async () => {
    const small = await startGatewayUnderTest({
      channels: [aRelayChannel({ base_url: `${upstream.url}/v1` })],
      limits: { body: '1KiB' },
    });
    upstream.reply = bytes(Buffer.alloc(2000), 'audio/mpeg');
    const {
      json: { id },
    } = await call(small.url, 'POST', '/async/v1/audio/speech', { body: { model: 'some-model', input: 'x' } });
    await until(() => small.jobs.single().end !== undefined);

    expect((await call(small.url, 'GET', `/get-async?id=${String(id)}`)).json).toMatchObject({
      status: 'failed',
      error: { code: 'result_too_large' },
    });
    await small.stop();
  });
});

describe('a refused call', () => {
  test.each<[string, string, Parameters<typeof call>[3], number, string]>([
    ['a stream', CHAT, { body: { ...chat, stream: true } }, 400, 'invalid_request'],
    [
      'a stream by its path',
      '/async/v1beta/models/some-model:streamGenerateContent?alt=sse',
      { body: { contents: [] } },
      400,
      'invalid_request',
    ],
    ['a model that no channel has', CHAT, { body: { ...chat, model: 'Hidden' } }, 404, 'model_not_found'],
    ['a model of another endpoint', CHAT, { body: { ...chat, model: 'Alpha-H3' } }, 404, 'model_not_found'],
    ['no model', CHAT, { body: { messages: [] } }, 400, 'missing_model'],
    ['invalid JSON', CHAT, { body: '{' }, 400, 'invalid_json'],
    [
      'a body of an unsupported type',
      CHAT,
      { body: 'x', headers: { 'content-type': 'text/plain' } },
      415,
      'unsupported_media_type',
    ],
    ['an unknown route', '/async/v1/videos', { body: chat }, 404, 'not_found'],
    ['itself', '/async/async/v1/chat/completions', { body: chat }, 404, 'not_found'],
    ['realtime', '/async/v1/realtime?model=some-model', { body: chat }, 404, 'not_found'],
    ['without a token', CHAT, { body: chat, token: null }, 401, 'invalid_api_key'],
  ])('%s leaves nothing behind', async (_what, path, options, status, code) => {
    const answer = await queue(options, path);

    expect([answer.status, answer.json.error.code]).toEqual([status, code]);
    expect(Object.keys(answer.json)).toEqual(['error']);
    expect([under.jobs.calls, under.calls.placed, [...under.media.kept]]).toEqual([[], [], []]);
  });

  test('without balance is withdrawn, and its key is free', async () => {
    under.calls.refusal = new Problem({
      kind: 'exhausted',
      reason: 'insufficient_quota',
      message: 'the balance does not cover this',
    });
    const keyed = { body: chat, headers: { 'idempotency-key': 'k3' } };
    const answer = await queue(keyed);

    expect([answer.status, answer.json.error.code, answer.headers['x-should-retry']]).toEqual([
      429,
      'insufficient_quota',
      'false',
    ]);
    expect(under.jobs.jobs.size).toBe(0);
    under.calls.refusal = undefined;
    await ended((await queue(keyed)).json.id);
  });

  test('gets the refusal of the tasks service', async () => {
    under.jobs.fail(
      'createJob',
      1,
      new Problem({
        kind: 'exhausted',
        reason: 'too_many_tasks',
        message: 'too many asynchronous calls have not ended yet',
        retryAfterMs: 5000,
      }),
    );
    const answer = await queue();

    expect([answer.status, answer.json.error.code, answer.headers['retry-after']]).toEqual([
      429,
      'too_many_tasks',
      '5',
    ]);
    expect(under.calls.placed).toEqual([]);
  });
});

test('a large request is stored with media until it ends, and is sent whole', async () => {
  const content = 'x'.repeat(100_000);
  const {
    json: { id },
  } = await queue({ body: { ...chat, messages: [{ role: 'user', content }] } });
  await ended(id);

  expect([...under.media.kept.values()].map(({ accountId, bytes }) => [accountId, bytes.length])).toEqual([
    ['demo', upstream.seen[0]!.body.length - 'upstream-model-2026'.length + 'some-model'.length],
  ]);
  expect(upstream.seen[0]?.body.toString()).toContain(content);
});
