import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { experimental_generateVideo, experimental_getVideoStatus, experimental_startVideo } from 'ai';
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createReelgate } from '../../deploy/examples/ai-sdk-provider/src/index.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import type { Work } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { EXAMPLES, MODULES, PROGRAMS, RUN_TIMEOUT_MS, environmentFor, runExample } from './example-runs.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const PACKAGE = path.join(EXAMPLES, 'ai-sdk-provider');
const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const SOON_MS = 20_000;
/** The gateway holds each status read, so the SDK itself need not wait. */
const poll = { intervalMs: 1 };

let receiver: WebhookReceiver;
let world: ScriptedProgram;
const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-ai-sdk-'));
beforeAll(async () => {
  (globalThis as { AI_SDK_LOG_WARNINGS?: boolean }).AI_SDK_LOG_WARNINGS = false;
  receiver = await startWebhookReceiver();
  world = await startScriptedProgram({}, (config) => ({ ...config, webhooks: { allow: [receiver.host] } }));
}, START_TIMEOUT_MS);
afterAll(async () => {
  await world?.end();
  await receiver?.stop();
  rmSync(folder, { recursive: true, force: true });
}, START_TIMEOUT_MS);

const connect = (more: Parameters<typeof createReelgate>[0] = {}) =>
  createReelgate({ baseURL: `${world.program.base}/v1`, apiKey: KEYS.demo, ...more });
const worksOf = (mark: string): readonly Work[] => world.upstream.works.filter((work) => work.mark === mark);
const words = (mark: string, more = '[take:0]'): string => `a red boat [mark:${mark}] ${more}`;
const readStatus = async (id: string): Promise<string> =>
  (await world.demo.call('GET', `/v1/videos/${id}`)).json.status as string;

describe('generateVideo', () => {
  test(
    'makes two tasks of n: 2, warns of what an order cannot say, and returns the bytes',
    async () => {
      const { videos, warnings, providerMetadata, responses } = await experimental_generateVideo({
        model: connect().video('Alpha-H3'),
        prompt: words('two'),
        n: 2,
        duration: 6,
        aspectRatio: '9:16',
        fps: 24,
        seed: 1,
        generateAudio: true,
        poll,
      });

      expect(videos.map(({ uint8Array, mediaType }) => [VIDEO.equals(uint8Array), mediaType])).toEqual([
        [true, 'video/mp4'],
        [true, 'video/mp4'],
      ]);
      expect(worksOf('two').map(({ order }) => [order.duration, order.ratio])).toEqual([
        [6, '9:16'],
        [6, '9:16'],
      ]);
      expect(warnings.map((warning) => 'feature' in warning && warning.feature)).toEqual([
        'fps',
        'seed',
        'generateAudio',
        'fps',
        'seed',
        'generateAudio',
      ]);
      const ids = (providerMetadata['reelgate']!['videos'] as { id: string }[]).map(({ id }) => id);
      expect(new Set(ids).size).toBe(2);
      expect(responses.map((one) => one.providerMetadata?.['reelgate']?.['id'])).toEqual(ids);
      expect(await Promise.all(ids.map(readStatus))).toEqual(['completed', 'completed']);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'repeats a create whose answer was lost with the same key, and makes one video',
    async () => {
      const keys: (string | null)[] = [];
      const losing: typeof fetch = async (input, init) => {
        const answer = await fetch(input, init);
        if (init?.method !== 'POST') return answer;
        keys.push(new Headers(init.headers).get('idempotency-key'));
        return keys.length > 1 ? answer : new Response('', { status: 503, headers: { 'retry-after-ms': '1' } });
      };

      const { video } = await experimental_generateVideo({
        model: connect({ fetch: losing }).video('Alpha-H3'),
        prompt: words('lost'),
        poll,
      });

      expect(VIDEO.equals(video.uint8Array)).toBe(true);
      expect(keys).toEqual([keys[0], keys[0]]);
      expect(keys[0]).toMatch(/^\S+$/);
      expect(worksOf('lost')).toHaveLength(1);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'waits for the webhook instead of polling',
    async () => {
      const reads: string[] = [];
      const counting: typeof fetch = async (input, init) => {
        if (init?.method === 'GET') reads.push(input as string);
        return fetch(input, init);
      };
      const heard = async () => {
        await until(() => receiver.at('/sdk').length > 0, SOON_MS);
        const [{ headers, body }] = receiver.at('/sdk') as [(typeof receiver.requests)[number]];
        return { headers, body: JSON.parse(body) };
      };

      const { video, providerMetadata } = await experimental_generateVideo({
        model: connect({ fetch: counting }).video('Alpha-H3'),
        prompt: words('webhook'),
        webhook: async () => ({ url: receiver.url('/sdk'), received: heard() }),
      });

      expect(VIDEO.equals(video.uint8Array)).toBe(true);
      const status = `${world.program.base}/v1/videos/${providerMetadata['reelgate']!['id'] as string}`;
      expect(reads).toEqual([status, `${status}/content`]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'throws the sentence of a video that failed',
    async () => {
      const failing = experimental_generateVideo({
        model: connect().video('Alpha-H3'),
        prompt: words('failing', '[take:0] [fail]'),
        poll,
      });

      const said = await failing.then(String, (error: unknown) => (error as Error).message);
      const { json } = await world.demo.call('GET', '/v1/videos?limit=1');
      expect([json.data[0].status, said]).toEqual(['failed', json.data[0].error.message]);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'that is aborted stops asking, and cancels nothing',
    async () => {
      const abort = new AbortController();
      const reads: string[] = [];
      const aborting: typeof fetch = async (input, init) => {
        const answer = fetch(input, init);
        if (init?.method === 'GET') {
          reads.push(input as string);
          abort.abort();
        }
        return answer;
      };

      const waiting = experimental_generateVideo({
        model: connect({ fetch: aborting }).video('Alpha-H3'),
        prompt: words('aborted', '[gate]'),
        abortSignal: abort.signal,
        poll,
      });

      await expect(waiting).rejects.toMatchObject({ name: 'AbortError' });
      world.upstream.openGate();
      expect(reads).toHaveLength(1);
      const { json } = await world.demo.finish(path.basename(reads[0]!));
      expect(json.status).toBe('completed');
    },
    TEST_TIMEOUT_MS,
  );

  test('throws the sentence of a refusal, once', async () => {
    const { json } = await world.demo.call('POST', '/v1/videos', { model: 'No-Such-Model', prompt: words('refused') });
    const refused = experimental_generateVideo({
      model: connect().video('No-Such-Model'),
      prompt: words('refused'),
      poll,
    });

    await expect(refused).rejects.toMatchObject({ name: 'AI_APICallError', message: json.error.message });
    expect(worksOf('refused')).toEqual([]);
  });
});

test(
  'max_amount bounds the price wherever the gateway has the field',
  async () => {
    const document = await (await fetch(`${world.program.base}/openapi.json`)).text();
    const started = await experimental_startVideo({
      model: connect().video('Alpha-H3'),
      prompt: words('bounded'),
      providerOptions: { reelgate: { max_amount: '0.01', currency: 'USD' } },
    }).then(
      () => true,
      () => false,
    );

    expect(started).toBe(!document.includes('"max_amount"'));
    if (!started) expect(worksOf('bounded')).toEqual([]);
  },
  TEST_TIMEOUT_MS,
);

test(
  'startVideo and getVideoStatus in two programs make a video, and its link needs no token',
  async () => {
    const { operation, providerMetadata } = await experimental_startVideo({
      model: connect().video('Alpha-H3'),
      prompt: { text: words('apart', '[gate]'), image: readFileSync(path.join(EXAMPLES, '../local/first-video.jpg')) },
      resolution: '1280x720',
      providerOptions: { reelgate: { output: 'url' } },
    });
    const ask = () =>
      experimental_getVideoStatus(connect().video('Alpha-H3'), {
        operation: JSON.parse(JSON.stringify(operation)) as typeof operation,
      });

    expect((await ask()).status).toBe('pending');
    world.upstream.openGate();
    await world.demo.finish(providerMetadata!['reelgate']!['id'] as string);
    const { status, videos } = (await ask()) as { status: string; videos: { type: string; url: string }[] };

    expect([status, videos.map(({ type }) => type)]).toEqual(['completed', ['url']]);
    expect(VIDEO.equals(Buffer.from(await (await fetch(videos[0]!.url)).arrayBuffer()))).toBe(true);
  },
  TEST_TIMEOUT_MS,
);

test(
  'the published package has types, and runs the program of its page',
  async () => {
    const source = path.join(folder, 'source');
    const installed = path.join(folder, 'app/node_modules/@reelgate/ai-sdk-provider');
    cpSync(PACKAGE, source, { recursive: true });
    writeFileSync(path.join(source, 'tsconfig.build.json'), rebasedConfig());
    symlinkSync(MODULES, path.join(folder, 'node_modules'));
    // `npm test` passes on its own settings, and with that of the repository the package would not be built
    const packing = ['pack', '--silent', '--ignore-scripts=false', '--pack-destination', folder];
    await runExample('npm', packing, { cwd: source, path: PROGRAMS });
    const [archive = ''] = readdirSync(folder).filter((name) => name.endsWith('.tgz'));
    mkdirSync(installed, { recursive: true });
    execFileSync('tar', ['-xzf', path.join(folder, archive), '-C', installed, '--strip-components=1']);
    const [, program = ''] = /^```ts\n([^]*?)^```$/m.exec(readFileSync(path.join(PACKAGE, 'README.md'), 'utf8')) ?? [];
    const app = path.join(folder, 'app');
    writeFileSync(path.join(app, 'boat.mts'), program);
    const options = [
      '--noEmit',
      '--strict',
      '--skipLibCheck',
      '--target',
      'esnext',
      '--module',
      'nodenext',
      '--types',
      'node',
    ];

    await runExample(path.join(PROGRAMS, 'tsc'), [...options, 'boat.mts'], { cwd: app });
    const out = await runExample(process.execPath, ['boat.mts'], {
      cwd: app,
      environment: environmentFor(world.program),
    });

    expect(out).toMatch(/^task_\w+ is saved in boat\.mp4\n$/);
    expect(VIDEO.equals(readFileSync(path.join(app, 'boat.mp4')))).toBe(true);
    expect(readdirSync(installed).toSorted()).toEqual(['README.md', 'dist', 'package.json']);
  },
  RUN_TIMEOUT_MS,
);

test(
  'what the page says builds the package, installs it, and its program makes a video',
  async () => {
    const repository = path.join(folder, 'repository');
    const app = path.join(folder, 'installed');
    mkdirSync(app);
    cpSync(PACKAGE, path.join(repository, 'deploy/examples/ai-sdk-provider'), { recursive: true });
    for (const file of ['tsconfig.json', '.npmrc', 'package.json'])
      cpSync(path.join(EXAMPLES, '../..', file), path.join(repository, file));
    symlinkSync(MODULES, path.join(repository, 'node_modules'));
    const page = readFileSync(path.join(PACKAGE, 'README.md'), 'utf8');
    const [, commands = ''] = /^```sh\n([^]*?)^```$/m.exec(page) ?? [];
    const [, program = ''] = /^```ts\n([^]*?)^```$/m.exec(page) ?? [];
    await runExample('sh', ['-euc', commands], { cwd: repository, environment: { APP: app } });
    writeFileSync(path.join(app, 'boat.mts'), program);
    const environment = environmentFor(world.program);
    const out = await runExample(process.execPath, ['boat.mts'], { cwd: app, environment });

    expect(commands).toContain('npm install');
    expect(out).toMatch(/^task_\w+ is saved in boat\.mp4\n$/);
    expect(VIDEO.equals(readFileSync(path.join(app, 'boat.mp4')))).toBe(true);
  },
  RUN_TIMEOUT_MS,
);

/** The configuration of the compiler for a copy of the package outside the repository. */
function rebasedConfig(): string {
  const config = JSON.parse(readFileSync(path.join(PACKAGE, 'tsconfig.build.json'), 'utf8')) as { extends: string };
  return JSON.stringify({ ...config, extends: path.join(PACKAGE, config.extends) });
}
