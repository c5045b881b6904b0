import type { Transform } from 'node:stream';
import {
  brotliCompressSync,
  constants,
  createBrotliCompress,
  createGzip,
  createZstdCompress,
  deflateRawSync,
  deflateSync,
  gzipSync,
  zstdCompressSync,
} from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { call } from '../../../testing/http-call.ts';
import { openStream } from '../../../testing/open-stream.ts';
import { withRelay } from '../../../testing/relay-under-test.ts';
import { DELIVERED } from '../../../testing/scripted-relay-upstream.ts';
import type { Reply } from '../../../testing/scripted-relay-upstream.ts';
import { until } from '@reelgate/platform/testing/until';

const relay = withRelay();
const UPSTREAM_MODEL = 'upstream-model-2026';
const USAGE = { model: UPSTREAM_MODEL, choices: [], usage: { prompt_tokens: 9, completion_tokens: 2 } };
const ANSWER = { ...USAGE, choices: DELIVERED.choices };
const CHARGE = [{ basis: Basis.USAGE, usage: { inputTokens: 9n, outputTokens: 2n } }];
const charged = async () => {
  await relay().gateway.settled(1);
  return relay().gateway.calls.settled;
};
const packed =
  (encoding: string, body: Buffer, status = 200): Reply =>
  (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', 'content-encoding': encoding }).end(body);
const post = () =>
  call(relay().gateway.url, 'POST', '/v1/chat/completions', { body: { model: 'some-model', messages: [] } });
const PACKERS = [
  ['gzip', gzipSync],
  ['deflate', deflateSync],
  ['deflate', deflateRawSync],
  ['br', brotliCompressSync],
  ['zstd', zstdCompressSync],
] as const;

describe('a compressed answer that the gateway did not ask for', () => {
  test.each(PACKERS)(
    "in %s is passed on uncompressed, without the upstream's model, and charged by its usage",
    async (encoding, pack) => {
      relay().first.reply = packed(encoding, pack(JSON.stringify(ANSWER)));
      const answer = await post();

      expect([answer.status, answer.headers['content-encoding'], answer.json]).toEqual([
        200,
        undefined,
        { ...ANSWER, model: 'some-model' },
      ]);
      expect(await charged()).toMatchObject(CHARGE);
    },
  );
  test.each(PACKERS)('in %s is handled the same if it is too long to buffer', async (encoding, pack) => {
    const long = { model: UPSTREAM_MODEL, choices: ANSWER.choices, pad: 'x'.repeat(3_000_000), usage: ANSWER.usage };
    relay().first.reply = packed(encoding, pack(JSON.stringify(long)));

    expect((await post()).text === JSON.stringify({ ...long, model: 'some-model' })).toBe(true);
    expect(await charged()).toMatchObject(CHARGE);
  });
  test('with an error is passed on without the identities of the upstream', async () => {
    relay().first.reply = packed(
      'gzip',
      gzipSync(JSON.stringify({ error: { message: `no ${UPSTREAM_MODEL}`, code: 'bad' } })),
      400,
    );
    const { status, json } = await post();

    expect([status, json]).toEqual([400, { error: { message: 'no some-model', code: 'bad' } }]);
  });
  test.each([['gzip'], ['zstd'], ['br']])('in malformed %s is refused, and nothing is charged', async (encoding) => {
    relay().first.reply = packed(encoding, Buffer.from('this is nothing of the kind, however long one reads in it'));

    expect(await post()).toMatchObject({ status: 502, json: { error: { code: 'upstream_failed' } } });
    expect(await charged()).toMatchObject([{ basis: Basis.RELEASED }]);
  });
  test('with an unknown encoding is passed on unchanged and charged by its hold', async () => {
    relay().first.reply = packed('compress', Buffer.from('whatever'));
    const answer = await post();

    expect([answer.status, answer.headers['content-encoding'], answer.text]).toEqual([200, 'compress', 'whatever']);
    expect(await charged()).toMatchObject([{ basis: Basis.HOLD }]);
  });
  test('without a byte is an error', async () => {
    for (const upstream of relay().upstreams) upstream.reply = packed('gzip', Buffer.alloc(0));

    expect(await post()).toMatchObject({ status: 502, json: { error: { code: 'upstream_failed' } } });
  });
});

const { Z_SYNC_FLUSH, BROTLI_OPERATION_FLUSH, ZSTD_e_flush: ZSTD_FLUSH } = constants;
const STREAMS: readonly (readonly [
  string,
  () => Transform & { flush(kind: number, done: () => void): void },
  number,
])[] = [
  ['gzip', createGzip, Z_SYNC_FLUSH],
  ['br', createBrotliCompress, BROTLI_OPERATION_FLUSH],
  ['zstd', createZstdCompress, ZSTD_FLUSH],
];
const chunk = (text: string): string =>
  `data: {"model":"${UPSTREAM_MODEL}","choices":[{"delta":{"content":"${text}"}}]}\n\n`;
const DONE = 'data: [DONE]\n\n';
const chat = { model: 'some-model', messages: [], stream: true };

describe.each(STREAMS)('a stream with the encoding %s', (encoding, pack, flush) => {
  /** Writes one event, and the others once the client has it. */
  const inTwo = (rest: (packer: Transform, upstream: Parameters<Reply>[1]) => void): { readonly goOn: () => void } => {
    let goOn = (): void => undefined;
    relay().first.reply = (_request, response) => {
      const packer = pack();
      packer.pipe(response.writeHead(200, { 'content-type': 'text/event-stream', 'content-encoding': encoding }));
      packer.write(chunk('one'));
      packer.flush(flush, () => undefined);
      goOn = () => rest(packer, response);
    };
    return { goOn: () => goOn() };
  };

  test('is passed on event by event, uncompressed, and charged by its usage', async () => {
    const upstream = inTwo((packer) => packer.end(`data: ${JSON.stringify(USAGE)}\n\n${DONE}`));
    const stream = await openStream(relay().gateway.url, '/v1/chat/completions', chat);
    await stream.has('one');
    upstream.goOn();

    expect(await stream.ended).toEqual({
      text: chunk('one').replace(UPSTREAM_MODEL, 'some-model') + DONE,
      wasWhole: true,
    });
    expect(await charged()).toMatchObject(CHARGE);
  });
  test('that breaks off ends with an error of the dialect after its last event', async () => {
    const upstream = inTwo((_packer, response) => response.destroy());
    const stream = await openStream(relay().gateway.url, '/v1/chat/completions', chat);
    await stream.has('one');
    upstream.goOn();

    expect((await stream.ended).text).toMatch(/one[^]*upstream_failed[^]*\n\n$/);
    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE }]);
  });
  test('whose client leaves is cancelled at the upstream', async () => {
    inTwo(() => undefined);
    const left = relay().first.left();
    const stream = await openStream(relay().gateway.url, '/v1/chat/completions', chat);
    await stream.has('one');
    stream.leave();

    await until(() => relay().first.left() === left + 1);
    expect(await charged()).toMatchObject([{ basis: Basis.ESTIMATE }]);
  });
});
