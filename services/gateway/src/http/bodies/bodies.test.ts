import http from 'node:http';
import net from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import OpenAI, { toFile } from 'openai';
import { TOKEN } from '../../../testing/fake-services.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { brief } from '../../../testing/order-summary.ts';
import { formPart } from '../../../testing/multipart-form.ts';

const LIMIT = 1024 * 1024;
const compat = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', size: '1280x720' };

let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest({ limits: { body: '1MiB' } });
});
afterAll(() => under.stop());
beforeEach(() => {
  under.tasks.calls.length = 0;
  under.tasks.creates.length = 0;
  under.media.puts.length = 0;
});

/** Sends raw bytes. Returns the answer once it matches `until` or the connection closes. */
function raw(parts: readonly string[], until: RegExp): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(under.gateway.port, '127.0.0.1');
    let seen = '';
    socket.setTimeout(10_000, () => socket.destroy(new Error(`only saw: ${seen.slice(0, 500)}`)));
    socket.on('data', (chunk) => {
      seen += chunk.toString('latin1');
      if (until.test(seen)) {
        socket.destroy();
        resolve(seen);
      }
    });
    socket.on('error', reject);
    socket.on('close', () => {
      resolve(seen);
    });
    for (const part of parts) socket.write(part);
  });
}

const head = (lines: readonly string[]): string =>
  [
    `POST /v1/videos HTTP/1.1`,
    'host: x',
    `authorization: Bearer ${TOKEN}`,
    'content-type: application/json',
    ...lines,
    '',
    '',
  ].join('\r\n');

describe('a body beyond the limit', () => {
  test('is refused by its declared length, before the client sends it', async () => {
    const seen = await raw([head([`content-length: ${10 ** 12}`])], /body_too_large/);

    expect(seen).toMatch(/^HTTP\/1.1 413 /);
    expect(seen).toMatch(/connection: close/i);
  });
  test('is refused without 100 Continue if the client waits for it', async () => {
    const seen = await raw([head([`content-length: ${LIMIT + 1}`, 'expect: 100-continue'])], /body_too_large/);

    expect(seen).toMatch(/^HTTP\/1.1 413 /);
    expect(seen).not.toMatch(/100 Continue/);
  });
  test('is refused while it arrives, if it declares no length', async () => {
    const chunk = `${(65_536).toString(16)}\r\n${'x'.repeat(65_536)}\r\n`;
    const seen = await raw(
      [head(['transfer-encoding: chunked']), ...Array.from({ length: 20 }, () => chunk)],
      /body_too_large/,
    );

    expect(seen).toMatch(/^HTTP\/1.1 413 /);
  });
  test('is answered even while the client keeps sending', async () => {
    const answer = await call(under.url, 'POST', '/v1/videos', { body: { ...compat, prompt: 'x'.repeat(3 * LIMIT) } });

    expect(answer.status).toBe(413);
    expect(answer.json.error.code).toBe('body_too_large');
  });
  test('with a short unread rest keeps the connection open for the next request', async () => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
    const refused = await call(under.url, 'POST', '/v1/videos', {
      body: { x: 'x'.repeat(500_000) },
      token: null,
      agent,
    });
    const next = await call(under.url, 'POST', '/v1/videos', { body: compat, agent });

    expect([refused.status, refused.headers.connection, next.status]).toEqual([401, 'keep-alive', 200]);
    agent.destroy();
  });
  test('reaches no service', () => {
    expect(under.tasks.calls).toEqual([]);
  });
});

test('a body at the limit is accepted', async () => {
  const body = JSON.stringify({ ...compat, note: '' });
  const answer = await call(under.url, 'POST', '/v1/videos', {
    body: body.replace('"note":""', `"note":"${'x'.repeat(LIMIT - body.length)}"`),
  });

  expect(answer.json.error?.message ?? '').toContain('note is an unknown field');
});

test('a client that waits for 100 Continue gets it, and then its answer', async () => {
  const body = JSON.stringify(compat);
  const seen = await raw([head([`content-length: ${body.length}`, 'expect: 100-continue']), body], /"task_id"/);

  expect(seen).toMatch(/^HTTP\/1.1 100 Continue\r\n\r\nHTTP\/1.1 200 OK/);
});

test('a client that leaves during its own request is not logged as a fault', async () => {
  const socket = net.connect(under.gateway.port, '127.0.0.1');
  await new Promise((resolve) => socket.once('connect', resolve));
  socket.write(head(['content-length: 100']));
  socket.write('{"model":');
  await new Promise((resolve) => setImmediate(resolve));
  socket.destroy();

  expect((await call(under.url, 'POST', '/v1/videos', { body: compat })).status).toBe(200);
});

describe('unusual JSON', () => {
  test.each([
    ['invalid UTF-8', Buffer.from([0x22, 0xc3, 0x28, 0x22])],
    ['deep nesting', `{"a":${'['.repeat(5000)}${']'.repeat(5000)}}`],
    ['an unclosed string', '{"a":"b'],
    ['an escape at the end', '{"a":"\\'],
    ['nothing', ''],
    ['white space', '  '],
    ['a second document', '{} {}'],
  ])('%s is refused', async (_what, body) => {
    const answer = await call(under.url, 'POST', '/v1/videos', {
      body,
      headers: { 'content-type': 'application/json' },
    });

    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_json']);
  });
  test('brackets and quotes in strings are text', async () => {
    const prompt = `a "quoted\\" [[[ ${'{'.repeat(200)} \\\\`;
    await call(under.url, 'POST', '/v1/videos', { body: { ...compat, prompt } });

    expect(brief(under.tasks.creates[0]!.order!)).toMatchObject({ content: [prompt] });
  });
  test('names of JavaScript prototypes are unknown fields like any other', async () => {
    const answer = await call(under.url, 'POST', '/v2/video_generation', {
      body: '{"model":"a","content":[],"duration":5,"resolution":"2K","__proto__":{"ratio":"1:1"}}',
    });

    expect(answer.json.error.message).toMatch(/^__proto__ is an unknown field/);
  });
});

describe('the OpenAI SDK', () => {
  const client = (): OpenAI => new OpenAI({ apiKey: TOKEN, baseURL: `${under.url}/v1`, maxRetries: 0 });

  test('creates with a form of fields', async () => {
    const video = await client().videos.create({ model: 'Alpha-H3', prompt: 'a boat', seconds: '8', size: '720x1280' });

    expect(video).toMatchObject({
      id: expect.stringMatching(/^task_/),
      object: 'video',
      status: 'queued',
      seconds: '5',
      size: '720x1280',
    });
    expect(brief(under.tasks.creates[0]!.order!)).toEqual({
      kind: 'generation',
      model: 'Alpha-H3',
      content: ['a boat'],
      duration: 8,
      ratio: '9:16',
      resolution: '768P',
      size: '720x1280',
    });
  });
  test('sends the first frame as a file, which is stored for the account', async () => {
    await client().videos.create({
      model: 'Alpha-H3',
      prompt: 'a boat',
      input_reference: await toFile(Buffer.from('the bytes'), 'first.png', { type: 'image/png' }),
    });

    expect(under.tasks.calls).toEqual(['checkOrder', 'createTask']);
    expect(under.media.puts).toEqual([{ accountId: 'demo', bytes: Buffer.from('the bytes') }]);
    expect(brief(under.tasks.creates[0]!.order!)).toMatchObject({
      content: ['a boat', { image: '(image/png)', role: 'first_frame' }],
    });
  });
  test('sends nested content, which is rebuilt', async () => {
    await client().videos.create({
      model: 'Alpha-H3',
      resolution: '2K',
      content: [
        { type: 'text', text: 'a boat' },
        { type: 'video_url', role: 'base_video', video_url: { url: 'https://x.example/v.mp4' } },
      ],
    } as never);

    expect(brief(under.tasks.creates[0]!.order!)).toEqual({
      kind: 'regeneration',
      model: 'Alpha-H3',
      resolution: '2K',
      content: ['a boat', { video: 'https://x.example/v.mp4', role: 'base_video' }],
    });
  });
  test('sends the first frame as a URL', async () => {
    await client().videos.create({
      model: 'Alpha-H3',
      prompt: 'a boat',
      input_reference: { image_url: 'https://x.example/i.png' },
    });

    expect(brief(under.tasks.creates[0]!.order!)).toMatchObject({
      content: ['a boat', { image: 'https://x.example/i.png', role: 'first_frame' }],
    });
  });
  test('posts JSON', async () => {
    await client().post('/videos', { body: compat });

    expect(under.tasks.creates).toHaveLength(1);
  });
  test("remixes with the contract's body; without it, the refusal names what to send", async () => {
    const remix = (body: object) => client().videos.remix('task_abc', body as never);

    expect(await remix({ model: 'Alpha-H3', resolution: '2K' })).toMatchObject({
      task_id: expect.stringMatching(/^task_/),
    });
    await expect(remix({ prompt: 'x' })).rejects.toThrow(/send \{"model": "Alpha-H3", "resolution": "2K"\}/);
  });
  test('retrieves, lists and deletes', async () => {
    const { id } = await client().videos.create({ model: 'Alpha-H3', prompt: 'a boat' });

    expect((await client().videos.retrieve(id)).id).toBe(id);
    expect((await client().videos.list()).data.map((video) => video.id)).toContain(id);
    expect(await client().videos.delete(id)).toEqual({ id, object: 'video.deleted', deleted: true });
    await expect(client().videos.retrieve(id)).rejects.toMatchObject({ status: 404, code: 'task_not_found' });
  });
  test('recognizes a refusal by its class, code, parameter and request id', async () => {
    await expect(
      client().videos.create({ model: 'Alpha-H3', prompt: 'a boat', seconds: 'five' as never }),
    ).rejects.toMatchObject({
      status: 400,
      code: 'invalid_duration',
      param: 'seconds',
      requestID: expect.stringMatching(/^req_/),
    });
  });
});

describe('a malformed form', () => {
  const post = (body: string | Buffer, type = 'multipart/form-data; boundary=b') =>
    call(under.url, 'POST', '/v1/videos', { body, headers: { 'content-type': type } });
  const part = (name: string, content: string): string => formPart('b', { name, content }).toString();

  test.each([
    ['without a boundary', 'x', 'multipart/form-data'],
    ['that breaks off', part('model', 'Alpha-H3'), undefined],
    ['without a part', 'hello', undefined],
    [
      'that breaks off within a file',
      '--b\r\nContent-Disposition: form-data; name="input_reference"; filename="a.png"\r\n' +
        'Content-Type: image/png\r\n\r\nxxx',
      undefined,
    ],
    [
      'with too many fields',
      `${Array.from({ length: 600 }, (_, index) => part(`f${index}`, 'x')).join('')}--b--\r\n`,
      undefined,
    ],
  ])('%s', async (_what, body, type) => {
    const answer = await post(body, type);

    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_request']);
    expect(under.tasks.calls).toEqual([]);
  });
  test.each([
    ['without a name', 'name="input_reference"', 'image/png', '(image/png)'],
    ["without a type, as Python's requests sends it", 'name="input_reference"; filename="a.png"', undefined, '()'],
    ['of type application/octet-stream', 'name="input_reference"', 'application/octet-stream', '()'],
    ['with a type in upper case', 'name="input_reference"; filename="a.png"', 'IMAGE/PNG', '(image/png)'],
    ['with a path as its file name', 'name="input_reference"; filename="../../etc/passwd"', 'image/png', '(image/png)'],
  ])('a file %s is a file', async (_what, disposition, type, said) => {
    const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0xff, 0x00, 0xc3, 0x28]);
    const contentType = type === undefined ? '' : `Content-Type: ${type}\r\n`;
    const file = [
      `--b\r\nContent-Disposition: form-data; ${disposition}\r\n${contentType}\r\n`,
      bytes,
      '\r\n--b--\r\n',
    ];
    const body = Buffer.concat(
      [part('model', 'Alpha-H3'), part('prompt', 'a boat'), ...file].map((piece) => Buffer.from(piece)),
    );
    const answer = await call(under.url, 'POST', '/v1/videos', {
      body,
      headers: { 'content-type': 'multipart/form-data; boundary=b' },
    });

    expect(answer.status).toBe(200);
    expect(under.media.puts).toEqual([{ accountId: 'demo', bytes }]);
    expect(brief(under.tasks.creates[0]!.order!)).toMatchObject({
      content: ['a boat', { image: said, role: 'first_frame' }],
    });
  });
  test('has the same limit as any other body', async () => {
    const answer = await post(`${part('prompt', 'x'.repeat(2 * LIMIT))}--b--\r\n`);

    expect(answer.status).toBe(413);
  });
});
