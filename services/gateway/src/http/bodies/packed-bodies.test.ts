import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { call } from '../../../testing/http-call.ts';
import { formBody } from '../../../testing/multipart-form.ts';
import { brief } from '../../../testing/order-summary.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';

const MIB = 1024 * 1024;
const BOUNDARY = 'boundary-of-the-test';
const PACKERS = [
  ['gzip', gzipSync],
  ['GZIP', gzipSync],
  ['x-gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;
const create_ = { model: 'Alpha-H3', prompt: 'a boat', seconds: '5', size: '1280x720' };
const chat = { model: 'some-model', messages: [{ role: 'user', content: 'x'.repeat(200_000) }] };

const relay = withRelay();
let under: GatewayUnderTest;
beforeAll(async () => {
  under = await startGatewayUnderTest();
});
afterAll(() => under.stop());

type Headers = Readonly<Record<string, string>>;
const sendCreate = (body: Buffer, headers: Headers) => call(under.url, 'POST', '/v1/videos', { body, headers });
const sendChat = (body: Buffer, headers: Headers) =>
  call(relay().gateway.url, 'POST', '/v1/chat/completions', { body, headers });
const readHeldBytes = async () => {
  const { text } = await call(relay().gateway.url, 'GET', '/metrics', { token: null });
  return /\nreelgate_gateway_body_bytes\{state="used"\} (\d+)\n/.exec(text)?.[1];
};

describe('a packed body', () => {
  test.each(PACKERS)('in %s is a create like the unpacked one', async (encoding, pack) => {
    const answer = await sendCreate(pack(JSON.stringify(create_)), { 'content-encoding': encoding });

    expect(answer.status).toBe(200);
    expect(brief(under.tasks.creates.at(-1)!.order!)).toMatchObject({ content: [create_.prompt] });
  });
  test.each(PACKERS)('in %s is a form like the unpacked one', async (encoding, pack) => {
    const parts = Object.entries(create_).map(([name, content]) => ({ name, content }));
    const answer = await sendCreate(pack(formBody(BOUNDARY, parts)), {
      'content-encoding': encoding,
      'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    });

    expect(answer.status).toBe(200);
    expect(brief(under.tasks.creates.at(-1)!.order!)).toMatchObject({ content: [create_.prompt] });
  });
  test.each(PACKERS)('in %s is forwarded unpacked, whatever its length', async (encoding, pack) => {
    const answer = await sendChat(pack(JSON.stringify(chat)), { 'content-encoding': encoding });
    const [got] = relay().first.seen;

    expect(answer.status).toBe(200);
    expect(got?.headers).not.toHaveProperty('content-encoding');
    expect(JSON.parse(String(got?.body))).toMatchObject({ messages: chat.messages });
  });
  test.each(['identity', 'Identity', ' IDENTITY ', ''])('is not one with the encoding "%s"', async (encoding) => {
    const body = Buffer.from(JSON.stringify(create_));

    expect((await sendCreate(body, { 'content-encoding': encoding })).status).toBe(200);
  });
  test('with an encoding that is not read is refused, and the answer lists those that are', async () => {
    const answer = await sendCreate(Buffer.from('x'), { 'content-encoding': 'compress' });

    expect([answer.status, answer.headers['accept-encoding'], answer.json.error.code]).toEqual([
      415,
      'gzip, deflate, br, zstd',
      'unsupported_content_encoding',
    ]);
  });
  test.each(PACKERS)('in %s is refused if it is truncated', async (encoding, pack) => {
    const packed = pack(JSON.stringify(chat));
    const answer = await sendChat(packed.subarray(0, -4), { 'content-encoding': encoding });

    expect([answer.status, answer.json.error.code]).toEqual([400, 'invalid_request']);
    expect(relay().first.seen).toEqual([]);
  });
  test.each(PACKERS)('in %s is refused if nothing is in it', async (encoding, pack) => {
    for (const body of [Buffer.alloc(0), pack('')])
      expect((await sendCreate(body, { 'content-encoding': encoding })).status).toBe(400);
  });
});

describe('a body that unpacks to more than the limit', () => {
  test.each(PACKERS)('in %s is refused, and none of it stays in memory', async (encoding, pack) => {
    const bomb = `{"model":"some-model","messages":"${'x'.repeat(64 * MIB)}"}`;
    const answer = await sendChat(pack(bomb), { 'content-encoding': encoding });

    expect([answer.status, answer.json.error.code]).toEqual([413, 'body_too_large']);
    expect(await readHeldBytes()).toBe('0');
  });
  test('has the bounds on its structure, though few bytes arrive', async () => {
    const deep = gzipSync(`{"model":"some-model","messages":${'['.repeat(10_000)}`);
    const answer = await sendChat(deep, { 'content-encoding': 'gzip' });

    expect([answer.status, answer.json.error.message]).toEqual([
      400,
      expect.stringMatching(/must not nest deeper than 64 levels/),
    ]);
  });
});

test('a byte order mark is not passed on', async () => {
  const body = Buffer.from(`\ufeff${JSON.stringify({ model: 'some-model', messages: [] })}`);
  const answer = await sendChat(body, {});

  expect([answer.status, relay().first.seen[0]?.body.toString()[0]]).toEqual([200, '{']);
});
