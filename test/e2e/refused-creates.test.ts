import { readFileSync, readdirSync, statSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { serves, startOrigin } from '../../services/media/testing/origin.ts';
import type { Origin } from '../../services/media/testing/origin.ts';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { until } from '@reelgate/platform/testing/until';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';

const FIXTURES = path.join(import.meta.dirname, '../../services/media/testing/fixtures');
const [PNG, SMALL] = ['image.png', 'small.png'].map((name) => readFileSync(path.join(FIXTURES, name))) as [
  Buffer,
  Buffer,
];
const MIB = 1024 ** 2;
/** The upstream's tasks outlast the test, so that no result is stored. */
const RUNS = '[take:600000] a boat';
const FULL = 'sk-full-0123456789';
const LARGE = 30 * MIB - PNG.byteLength - 64;
/**
 * The number of creates of 30 MiB each, from the account without credit. The other creates are smaller, one for each
 * kind of refusal.
 */
const LARGE_CREATES = Number(process.env['REELGATE_REFUSED_CREATES'] ?? 4);
const START_TIMEOUT_MS = 120_000;
const TEST_TIMEOUT_MS = 600_000;

function suite(shape: Shape, bus?: () => string): void {
  let origin: Origin;
  let upstream: ScriptedUpstream;
  let program: Program;
  let [demo, poor, narrow, full]: HttpCaller[] = [];

  beforeAll(async () => {
    [origin, upstream] = await Promise.all([startOrigin(), startScriptedUpstream()]);
    program = await newProgram(
      shape,
      // a create that waits is not refused
      { upstream: upstream.host, bus: bus?.(), tasks: { queue: { enabled: false } } },
      (config) =>
        ({
          ...config,
          media: { ...config.media, fetch: { allow: [upstream.host, origin.host] } },
          channels: [
            ...config.channels,
            {
              id: 'relay-of-the-test',
              adapter: 'relay',
              base_url: `http://${upstream.host}`,
              api_key: 'k',
              endpoints: ['chat'],
              models: { 'Chat-1': 'chat' },
            },
          ],
          prices: {
            ...config.prices,
            'Chat-1': { per_million_tokens: { input: '1.00', output: '1.00' }, hold: '5.00' },
          },
          accounts: [
            ...config.accounts,
            { id: 'full', credit: '100.00', tokens: [{ key: FULL, models: ['*'], limits: { in_flight: 1 } }] },
          ],
        }) as typeof config,
    );
    await program.start();
    [demo, poor, narrow, full] = [KEYS.demo, KEYS.poor, KEYS.narrow, FULL].map((key) =>
      httpCaller(program.base, key),
    ) as [HttpCaller, HttpCaller, HttpCaller, HttpCaller];
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await program?.end();
    await Promise.all([upstream?.stop(), origin?.close()]);
  }, START_TIMEOUT_MS);

  let made = 0;
  /** A unique picture, followed by `behind` bytes. */
  function aPicture(behind = 4096): Buffer {
    made += 1;
    return Buffer.concat([PNG, Buffer.alloc(behind), Buffer.from(`picture ${made}`)]);
  }
  const dataUrl = (bytes: Buffer): string => `data:image/png;base64,${bytes.toString('base64')}`;
  const image = (url: string): object => ({ type: 'image_url', role: 'reference_image', image_url: { url } });
  const order = (urls: readonly string[], over: Readonly<Record<string, unknown>> = {}): object => ({
    model: 'Alpha-H3',
    content: [{ type: 'text', text: over['prompt'] ?? 'a boat' }, ...urls.map(image)],
    seconds: '4',
    size: '1280x720',
    ...over,
    prompt: undefined,
  });
  const key = (name: string) => ({ 'idempotency-key': name });

  /** The content of the store, on the disk and in its database. */
  function store(): {
    readonly bytes: number;
    readonly files: number;
    readonly rows: Readonly<Record<string, number>>;
  } {
    const data = program.config.data_dir;
    const files = readdirSync(path.join(data, 'blobs'), { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isFile(),
    );
    const sql = new DatabaseSync(path.join(data, 'media.sqlite'), { readOnly: true });
    const count = (table: string): number =>
      Number(sql.prepare(`SELECT COUNT(*) AS count FROM ${table}`).get()?.['count']);
    const rows = Object.fromEntries(['blobs', 'objects', 'garbage'].map((table) => [table, count(table)]));
    sql.close();
    return {
      bytes: files.reduce(
        (sum, { parentPath, name }) =>
          sum + (statSync(path.join(parentPath, name), { throwIfNoEntry: false })?.size ?? 0),
        0,
      ),
      files: files.length,
      rows,
    };
  }

  /** Waits for the work on other media of a refused create, which continues for a moment. */
  const untilSame = (before: object): Promise<void> => until(() => isDeepStrictEqual(store(), before));

  type Refused = () => Promise<Answer>;
  const posts =
    (caller: () => HttpCaller, body: () => object, headers: Readonly<Record<string, string>> = {}): Refused =>
    () =>
      caller().call('POST', '/v1/videos', body(), headers);

  test.each<[string, number, string, Refused]>([
    [
      'an account without the money',
      429,
      'insufficient_quota',
      posts(
        () => poor!,
        () => order([dataUrl(aPicture())]),
      ),
    ],
    [
      'an unknown model',
      404,
      'model_not_found',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture())], { model: 'Gamma' }),
      ),
    ],
    [
      'a model that the token does not see',
      404,
      'model_not_found',
      posts(
        () => narrow!,
        () => order([dataUrl(aPicture())]),
      ),
    ],
    [
      'a wrong duration',
      400,
      'invalid_duration',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture())], { seconds: '99' }),
      ),
    ],
    [
      'a model without a price',
      400,
      'model_price_error',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture())], { model: 'Beta-V1', seconds: '5', size: '854x480' }),
      ),
    ],
    [
      'base64 that breaks in the second item',
      400,
      'invalid_media',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture()), 'data:image/png;base64,!!!!']),
      ),
    ],
    [
      'content that the upstream refuses',
      422,
      'content_rejected',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture())], { prompt: '[reject] a boat' }),
      ),
    ],
    [
      'content at an address that the upstream refuses',
      422,
      'content_rejected',
      posts(
        () => demo!,
        () => order([origin.url(serves(aPicture()))], { prompt: '[reject] a boat' }),
      ),
    ],
    [
      'a model whose channels are all at their limit',
      429,
      'rate_limit_exceeded',
      posts(
        () => demo!,
        () => order([dataUrl(aPicture())], { prompt: '[throttle] a boat' }),
      ),
    ],
  ])('a create that is refused for %s leaves nothing in the store', async (_why, status, code, refused) => {
    const before = store();
    const answer = await refused();

    expect([answer.status, answer.text]).toEqual([status, expect.stringContaining(code)]);
    expect(store()).toEqual(before);
    // the channel keeps its distance from an upstream that is at its limit
    if (code === 'rate_limit_exceeded')
      await until(
        async () => (await demo!.call('POST', '/v1/videos', order([], { prompt: '[reject] a boat' }))).status !== 429,
      );
  });

  test('a create with a dead second address leaves nothing of the first, even if the first arrives later', async () => {
    const before = store();
    const { promise: refused, resolve: release } = Promise.withResolvers<undefined>();
    const late = origin.url((request, response) => {
      void refused.then(() => {
        serves(aPicture())(request, response);
      });
    });
    const answer = await demo!.call(
      'POST',
      '/v1/videos',
      order([
        dataUrl(aPicture()),
        late,
        origin.url((_request, response) => {
          response.writeHead(404).end();
        }),
      ]),
    );
    release(undefined);

    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('invalid_media')]);
    await untilSame(before);
    expect(store()).toEqual(before);
  });

  test(
    `${LARGE_CREATES} refused creates of 30 MiB each do not change the store, and each is answered in time`,
    async () => {
      const before = store();
      const took: number[] = [];
      let [most, left] = [0, LARGE_CREATES];
      const one = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const body = JSON.stringify(order([dataUrl(aPicture(LARGE))]));
          const began = performance.now();
          expect((await poor!.call('POST', '/v1/videos', body)).status).toBe(429);
          took.push(performance.now() - began);
          most = Math.max(most, store().bytes - before.bytes);
        }
      };
      await Promise.all([one(), one()]);

      took.sort((a, b) => a - b);
      const median = took[Math.floor(took.length / 2)]!;
      console.log(
        `${LARGE_CREATES} refused creates of 30 MiB: median ${median.toFixed()} ms, ` +
          `most ${took.at(-1)!.toFixed()} ms, the store grew by ${most} bytes at most`,
      );
      await untilSame(before);
      expect(store()).toEqual(before);
      expect(most).toBe(0);
      // one that waits for something is far slower than most; all of them are slow on a slow machine
      expect(took.at(-1)).toBeLessThan(Math.max(30_000, 10 * median));
    },
    TEST_TIMEOUT_MS,
  );

  test('a create whose second picture is too small leaves nothing of the first once it is parsed', async () => {
    const before = store();
    const answer = await demo!.call(
      'POST',
      '/v1/videos',
      order([dataUrl(aPicture()), dataUrl(SMALL), dataUrl(aPicture())]),
    );

    expect([answer.status, answer.text]).toEqual([400, expect.stringContaining('invalid_media')]);
    await untilSame(before);
    expect(store()).toEqual(before);
  });

  test('a refused form and an estimate leave nothing', async () => {
    const send = async (target: string, key: string, prompt = 'a boat'): Promise<number> => {
      const form = new FormData();
      for (const [name, value] of Object.entries({ model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' }))
        form.append(name, value);
      form.append('input_reference', new Blob([new Uint8Array(aPicture())], { type: 'image/png' }), 'a.png');
      return (
        await fetch(program.base + target, { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: form })
      ).status;
    };
    const before = store();

    expect([
      await send('/v1/videos', KEYS.poor),
      await send('/v1/videos', KEYS.demo, '[reject] a boat'),
      await send('/v1/videos/estimate', KEYS.poor),
    ]).toEqual([429, 422, 200]);
    expect((await poor!.call('POST', '/v1/videos/estimate', order([dataUrl(aPicture())]))).status).toBe(200);
    await untilSame(before);
  });

  test('the addresses of an account without the money are not fetched', async () => {
    const before = [store(), origin.hits.length];

    expect((await poor!.call('POST', '/v1/videos', order([origin.url(serves(aPicture()))]))).status).toBe(429);
    expect([store(), origin.hits.length]).toEqual(before);
  });

  test('a client that disconnects in the middle of its body leaves nothing behind', async () => {
    const before = store();
    const url = new URL(`${program.base}/v1/videos`);
    const body = JSON.stringify(order([dataUrl(aPicture(2 * MIB))]));
    const request = httpRequest(url, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEYS.demo}`,
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(body),
      },
    });
    const closed = new Promise((resolve) => request.on('error', resolve));
    await new Promise((resolve) => request.write(body.slice(0, body.length / 2), resolve));
    request.destroy(new Error('gone'));
    await closed;

    expect((await demo!.call('GET', '/v1/models')).status).toBe(200);
    expect(store()).toEqual(before);
  });

  test('the body of an asynchronous call of an account without the money is not kept', async () => {
    const before = store();
    const answer = await poor!.call('POST', '/async/v1/chat/completions', {
      model: 'Chat-1',
      messages: [{ role: 'user', content: 'a'.repeat(MIB) }],
    });

    expect([answer.status, answer.text]).toEqual([429, expect.stringContaining('insufficient_quota')]);
    expect(store()).toEqual(before);
  });

  test(
    'a key of another request, a replay and a full counter leave nothing behind',
    async () => {
      const body = order([dataUrl(aPicture())], { prompt: RUNS });
      expect((await full!.call('POST', '/v1/videos', order([dataUrl(aPicture())], { prompt: RUNS }))).status).toBe(200);
      expect((await demo!.call('POST', '/v1/videos', body, key('k1'))).status).toBe(200);
      const before = store();
      const answers = [
        await demo!.call('POST', '/v1/videos', order([dataUrl(aPicture())]), key('k1')),
        await demo!.call('POST', '/v1/videos', body, key('k1')),
        await full!.call('POST', '/v1/videos', order([dataUrl(aPicture())])),
      ];

      expect(answers.map(({ status }) => status)).toEqual([422, 200, 429]);
      expect(answers[1]!.headers.get('idempotent-replayed')).toBe('true');
      expect(answers[2]!.text).toContain('too_many_tasks');
      expect(store()).toEqual(before);
    },
    TEST_TIMEOUT_MS,
  );

  test('an accepted create keeps its frozen media, and not the received bytes', async () => {
    const before = store();
    await demo!.create('/v1/videos', order([dataUrl(aPicture())], { prompt: RUNS }));

    expect(store().rows).toMatchObject({ objects: before.rows['objects']! + 1, blobs: expect.any(Number) });
    expect(store().bytes - before.bytes).toBeLessThan(PNG.byteLength + 1024);
  });
}

describe('in one program', () => {
  suite('one program');
});
describeWith(natsServer, 'over four processes', (bus) => {
  suite('four processes', bus);
});
