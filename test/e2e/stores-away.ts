import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { openCuttableLine } from '../harness/cuttable-line.ts';
import type { CuttableLine } from '../harness/cuttable-line.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program, Shape } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';

const TIMEOUT_MS = 120_000;
const STORES = ['tasks', 'billing', 'media'] as const;
const PNG = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/image.png')).toString(
  'base64',
);
const UNREAD = `task_${'a'.repeat(26)}`;

const TEXT = [{ type: 'text', text: 'a boat' }];
const COMPAT = { model: 'Alpha-H3', prompt: 'a boat', seconds: '4', size: '1280x720' };
/** Of a model whose price no other request reads: billing keeps a price for a second. */
const UNREAD_PRICE = { ...COMPAT, model: 'Beta-V1', seconds: '5' };
const WITH_BYTES = { ...COMPAT, input_reference: { image_url: `data:image/png;base64,${PNG}` } };
const OPENROUTER = { model: 'Alpha-H3', prompt: 'a boat', duration: 4 };
const VENDOR = { model: 'Alpha-H3', content: TEXT, duration: 4, resolution: '768P', ratio: '16:9' };
const CONTEXT = { model: 'Alpha-H3', content: TEXT, duration: 4, ratio: '16:9' };
const CHAT = { model: 'talk', messages: [{ role: 'user', content: 'hello' }] };
const MESSAGES = { ...CHAT, max_tokens: 9 };
const CONTENTS = { contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };

type Row = readonly [method: string, target: string, body?: object];
/** `{done}` and `{link}` stand for a finished task and the path of its link. */
const AT_THE_DOOR: readonly Row[] = [
  ['GET', '/v1/models'],
  ['GET', '/v1beta/models'],
  ['GET', '/v1/videos'],
  ['GET', `/v1/videos/${UNREAD}`],
  ['POST', '/v1/videos', COMPAT],
  ['POST', '/v1/video/generations', COMPAT],
  ['POST', '/api/v1/videos', OPENROUTER],
  ['GET', `/v2/query/video_generation/${UNREAD}`],
  ['POST', '/v2/video_generation', VENDOR],
  ['POST', '/v2/h3_context_ir', CONTEXT],
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/v1/messages', MESSAGES],
  ['POST', '/v1beta/models/talk:generateContent', CONTENTS],
  ['POST', '/async/v1/chat/completions', CHAT],
];
const WITHOUT_BILLING: readonly Row[] = [
  ['POST', '/v1/videos', COMPAT],
  ['POST', '/v1/video/generations', COMPAT],
  ['POST', '/api/v1/videos', OPENROUTER],
  ['POST', '/v1/videos/estimate', UNREAD_PRICE],
  ['POST', '/v2/video_generation', VENDOR],
  ['POST', '/v2/h3_context_ir', CONTEXT],
  ['POST', '/v1/chat/completions', CHAT],
  ['POST', '/v1/messages', MESSAGES],
  ['POST', '/v1beta/models/talk:generateContent', CONTENTS],
  ['POST', '/async/v1/chat/completions', CHAT],
];
const WITHOUT_TASKS: readonly Row[] = [
  ['GET', `/v1/videos/${UNREAD}`],
  ['GET', `/v1/video/generations/${UNREAD}`],
  ['GET', `/api/v1/videos/${UNREAD}`],
  ['GET', `/v2/query/video_generation/${UNREAD}`],
  ['GET', '/v1/videos'],
  ['GET', '/v2/query/video_generation'],
  ['GET', `/v1/videos/${UNREAD}/content`],
  ['POST', '/v1/videos', COMPAT],
  ['POST', '/v1/video/generations', COMPAT],
  ['POST', '/api/v1/videos', OPENROUTER],
  ['POST', '/v2/video_generation', VENDOR],
  ['POST', '/v2/h3_context_ir', CONTEXT],
  ['POST', '/v1/videos/{done}/remix', { model: 'Alpha-H3', resolution: '2K' }],
  ['POST', `/v1/videos/${UNREAD}/cancel`],
  ['DELETE', `/v1/videos/${UNREAD}`],
  ['DELETE', `/v2/video_generation/${UNREAD}`],
  ['POST', '/async/v1/chat/completions', CHAT],
  ['GET', `/get-async?id=job_${'a'.repeat(26)}`],
];
const WITHOUT_MEDIA: readonly Row[] = [
  ['GET', '/v1/videos/{done}/content'],
  ['GET', '/v1/videos/{done}/content?variant=thumbnail'],
  ['GET', '{link}'],
  ['POST', '/v1/videos', WITH_BYTES],
  [
    'POST',
    '/v2/video_generation',
    {
      ...VENDOR,
      content: [
        ...TEXT,
        { type: 'image_url', role: 'first_frame', image_url: { url: `data:image/png;base64,${PNG}` } },
      ],
    },
  ],
];

const SERVER = expect.stringMatching(/^a part of the service cannot be reached; try again/);
/** The refusal in the envelope of the path. */
function envelopeOf(target: string): object {
  if (target.startsWith('/v2/'))
    return {
      type: 'error',
      error: { type: 'server_error', message: SERVER, http_code: '503' },
      request_id: expect.any(String),
    };
  if (target.startsWith('/api/v1/'))
    return { error: { code: 503, message: SERVER, metadata: { reason: 'service_unavailable' } } };
  if (target.startsWith('/v1/messages'))
    return { type: 'error', error: { type: 'overloaded_error', message: SERVER }, request_id: expect.any(String) };
  if (target.startsWith('/v1beta/')) return { error: { code: 503, message: SERVER, status: 'UNAVAILABLE' } };
  return { error: { type: 'server_error', code: 'service_unavailable', param: null, message: SERVER } };
}

/** Adds a channel of the synchronous routes whose upstream does not answer. No request of these tests reaches it. */
function withTalk(config: TestConfig): TestConfig {
  const talk = {
    id: 'talk',
    adapter: 'relay',
    base_url: 'http://127.0.0.1:1',
    api_key: 'talk-key',
    endpoints: ['chat', 'messages', 'generate_content'],
    models: { talk: 'talk-up' },
  };
  return {
    ...config,
    channels: [...config.channels, talk] as unknown as TestConfig['channels'],
    prices: {
      ...config.prices,
      'Beta-V1': { per_second: '0.05' },
      talk: { per_request: '0.01' },
    } as unknown as TestConfig['prices'],
  };
}

/** The answers to a client while a database of the program is away, and the state afterwards. */
export function storesAwaySuite(
  shape: Shape,
  servers: { readonly postgres: () => string; readonly bus?: () => string },
): void {
  let upstream: ScriptedUpstream;
  let program: Program;
  let demo: HttpCaller;
  let stranger: HttpCaller;
  let lines: Readonly<Record<(typeof STORES)[number], CuttableLine>>;
  let done: string;
  let link: string;

  beforeAll(async () => {
    upstream = await startScriptedUpstream();
    const databases = await newDatabases(servers.postgres());
    const [tasks, billing, media] = await Promise.all(STORES.map((name) => openCuttableLine(databases[name])));
    lines = { tasks: tasks!, billing: billing!, media: media! };
    const urls = { tasks: lines.tasks.url, billing: lines.billing.url, media: lines.media.url };
    program = await newProgram(shape, { upstream: upstream.host, bus: servers.bus?.(), databases: urls }, withTalk);
    await program.start();
    [demo, stranger] = [httpCaller(program.base, KEYS.demo), httpCaller(program.base, KEYS.other)];
    done = await demo.create('/v1/videos', COMPAT);
    const { pathname, search } = new URL((await demo.finish(done)).json.video_url as string);
    link = pathname + search;
  }, TIMEOUT_MS);
  afterEach(() => STORES.forEach((name) => lines[name].mend()));
  afterAll(async () => {
    await program?.end();
    await Promise.all(Object.values(lines ?? {}).map((line) => line.stop()));
    await upstream?.stop();
  }, TIMEOUT_MS);

  const ask = (caller: HttpCaller, [method, target, body]: Row): Promise<Answer> =>
    caller.call(method, target.replace('{done}', done).replace('{link}', link), body);
  const expectLater = ({ status, headers, json, text }: Answer, target: string): void => {
    expect({ status, json }).toEqual({ status: 503, json: envelopeOf(target) });
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1);
    expect(headers.get('x-should-retry')).not.toBe('false');
    // A request id is random letters, which can spell one of these words.
    expect(text.replace(/req_\w+/g, '')).not.toMatch(/econn|postgres|database|127\.0\.0\.1|sql/i);
  };

  describe.each([
    ['billing', 'a token that the gateway does not know yet', AT_THE_DOOR, () => stranger],
    ['billing', 'a token that it knows', WITHOUT_BILLING, () => demo],
    ['tasks', 'any token', WITHOUT_TASKS, () => demo],
    ['media', 'any token', WITHOUT_MEDIA, () => demo],
  ] as const)(
    'while the database of %s is away, %s is refused as temporary, and nothing is begun',
    (store, _who, rows, caller) => {
      test.each(rows)('%s %s', async (...row) => {
        // The gateway caches the token for some seconds from now on.
        if (caller() === demo) await demo.call('GET', '/v1/models');
        const asked = upstream.asked.length;
        lines[store].cut();

        const answer = await ask(caller(), row);

        expectLater(answer, row[1]);
        expect(upstream.asked).toHaveLength(asked);
      });
    },
  );

  test.each(STORES)(
    'a create that failed while the database of %s was away succeeds later under its key, and the ledger is in order',
    async (store) => {
      const headers = { 'idempotency-key': `again-${store}` };
      await demo.call('GET', '/v1/models');
      lines[store].cut();
      const refused = await demo.call('POST', '/v1/videos', WITH_BYTES, headers);
      lines[store].mend();

      const taskId = await untilTaken(() => demo.call('POST', '/v1/videos', WITH_BYTES, headers));
      await demo.finish(taskId);

      expect(refused.status).toBe(503);
      expect((await program.command('ledger', 'verify')).json).toMatchObject({ ok: true, orphan_holds: [] });
    },
    TIMEOUT_MS,
  );
}

/** Repeats a create whose key is in use for a moment, until the rest of the refused create is removed. */
async function untilTaken(create: () => Promise<Answer>): Promise<string> {
  const deadline = performance.now() + TIMEOUT_MS / 2;
  for (;;) {
    const { status, json, headers } = await create();
    if (status === 200) return (json as { id: string }).id;
    if (performance.now() > deadline) throw new Error(`the create was not taken: ${JSON.stringify(json)}`);
    await new Promise((resolve) => setTimeout(resolve, 1000 * Number(headers.get('retry-after') ?? 1)));
  }
}
