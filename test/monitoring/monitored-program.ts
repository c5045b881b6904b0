import { readFileSync } from 'node:fs';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { httpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY, UPSTREAM_MODEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { ROOT } from '../image/dockerfile.ts';

const FIXTURES = path.join(ROOT, 'services/media/testing/fixtures');
const VIDEO = readFileSync(path.join(FIXTURES, '768p.mp4'));
const IMAGE = readFileSync(path.join(FIXTURES, 'image.png'));
const CALLS_PER_MINUTE = 20;
const JOB_TIMEOUT_MS = 60_000;
const SCRAPE_TIMEOUT_MS = 60_000;

const CHAT_MODEL = 'sandbox-chat';
/** Nothing takes the spans: the metrics name their traces all the same. */
const TRACING = { endpoint: 'http://127.0.0.1:1', sample: { creates: 1, calls: 1, reads: 1 } };
/** The model that only a channel for one task at a time serves, so that its second task waits for the first. */
const NARROW_MODEL = 'Beta-V1';
export const NARROW_CHANNEL = 'narrow-channel-of-the-test';
const LONGEST_WAIT = '5s';
const UPSTREAM_PRICES = { 'Alpha-H3': { per_second: '0.03' } };

export interface MonitoredProgram {
  readonly program: Program;
  readonly sandbox: Sandbox;
  readonly receiver: WebhookReceiver;
  end(): Promise<void>;
}

export interface Servers {
  readonly bus: string;
  readonly redis: string;
  readonly postgres: string;
}

/** Four processes with a database each, NATS and Redis, with the sandbox as upstream of videos and of chat. */
export async function startMonitoredProgram({ bus, redis, postgres }: Servers): Promise<MonitoredProgram> {
  const sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  const upstream = new URL(sandbox.url).host;
  const receiver = await startWebhookReceiver();
  const databases = await newDatabases(postgres);
  const program = await newProgram('four processes', { upstream, bus, redis, databases }, (config) => ({
    ...withChat(config, upstream),
    tasks: { ...config.tasks, queue: { enabled: true, longest_wait: { standard: LONGEST_WAIT } } },
    tracing: TRACING,
    webhooks: { allow: [receiver.host] },
  }));
  await program.start();
  return {
    program,
    sandbox,
    receiver,
    end: async () => {
      await program.end();
      await sandbox.stop();
      await receiver.stop();
    },
  };
}

function withChat(config: TestConfig, upstream: string): TestConfig {
  const chat = {
    id: 'chat-of-the-test',
    adapter: 'relay',
    base_url: `http://${upstream}`,
    api_key: UPSTREAM_KEY,
    endpoints: ['chat'],
    models: { [CHAT_MODEL]: 'echo-1' },
  };
  const limits = { ...config.gateway.limits, calls_per_minute: CALLS_PER_MINUTE };
  const [wide] = config.channels;
  const narrow = {
    id: NARROW_CHANNEL,
    endpoints: ['video.generation'],
    models: { [NARROW_MODEL]: UPSTREAM_MODEL },
    limits: { in_flight: 1 },
  };
  return {
    ...config,
    gateway: { ...config.gateway, limits },
    channels: [
      { ...wide, models: { 'Alpha-H3': UPSTREAM_MODEL }, upstream_prices: UPSTREAM_PRICES },
      { ...wide, ...narrow },
      chat,
    ] as TestConfig['channels'],
    prices: {
      ...config.prices,
      [NARROW_MODEL]: { per_second: '0.08' },
      [CHAT_MODEL]: { per_million_tokens: { input: '0.50', output: '1.50' }, hold: '0.05' },
    } as TestConfig['prices'],
  };
}

const dataUrl = (type: string, bytes: Buffer): string => `data:${type};base64,${bytes.toString('base64')}`;
export const anOrder = (words: string, ...items: readonly object[]): object => ({
  model: 'Alpha-H3',
  content: [{ type: 'text', text: words }, ...items],
  duration: 4,
  resolution: '768P',
  ratio: '16:9',
});
/** An order whose task runs for a time that the sandbox understands, such as `never`. */
export const aNarrowOrder = (runs: string): object => ({
  model: NARROW_MODEL,
  content: [{ type: 'text', text: `a boat [${runs}]` }],
  duration: 5,
  resolution: '768P',
  ratio: '16:9',
});
const PICTURE = { type: 'image_url', role: 'reference_image', image_url: { url: dataUrl('image/png', IMAGE) } };
const MOVIE = { type: 'video_url', role: 'reference_video', video_url: { url: dataUrl('video/mp4', VIDEO) } };
const CHAT = { model: CHAT_MODEL, messages: [{ role: 'user', content: 'hello' }], max_tokens: 10 };

export async function chat({ base }: Program): Promise<void> {
  await httpCaller(base, KEYS.demo).call('POST', '/v1/chat/completions', CHAT);
}

/** An asynchronous call whose end is told to the receiver. */
export async function asyncCall({ program: { base }, receiver }: MonitoredProgram): Promise<void> {
  const client = httpCaller(base, KEYS.demo);
  const call = { ...CHAT, webhook_url: receiver.url('/ends') };
  const job = await client.call('POST', '/async/v1/chat/completions', call);
  await untilEnded(client, (job.json as { id: string }).id);
}

/** A little of everything that clients do: creates of all outcomes, reads, calls, and one call too many. */
export async function useProgram(monitored: MonitoredProgram): Promise<void> {
  const client = httpCaller(monitored.program.base, KEYS.demo);
  const create = (words: string, ...items: readonly object[]): Promise<string> =>
    client.create('/v2/video_generation', anOrder(words, ...items));
  const [done, failed] = await Promise.all([
    create('a boat', PICTURE, MOVIE),
    create('a boat [fail:1026]'),
    create('a boat [unknown:paused]'),
  ]);
  await client.call('POST', '/v2/video_generation', anOrder('a boat [refuse:422]'));
  await client.call('POST', '/v2/video_generation', { model: 'Alpha-H3' });
  await client.finish(done);
  await client.finish(failed, 'failed');
  await client.call('GET', `/v1/videos/${done}/content`);
  await client.call('GET', '/v1/models');
  await asyncCall(monitored);
  for (let calls = 0; calls <= CALLS_PER_MINUTE; calls += 1) await client.call('POST', '/v1/chat/completions', CHAT);
}

async function untilEnded(client: ReturnType<typeof httpCaller>, id: string): Promise<void> {
  const deadline = performance.now() + JOB_TIMEOUT_MS;
  for (;;) {
    const { json, text } = await client.call('GET', `/get-async?id=${id}`);
    const status = (json as { status?: string }).status ?? '';
    if (['completed', 'failed'].includes(status)) return;
    if (performance.now() > deadline) throw new Error(`the call does not end: ${text}`);
    await wait(50);
  }
}

export type ScrapedService = 'gateway' | 'tasks' | 'billing' | 'media';

/** The `host:port` of each service's metrics. */
export const scrapeTargets = (config: TestConfig): Readonly<Record<ScrapedService, string>> => ({
  gateway: config.gateway.admin,
  tasks: config.tasks.http,
  billing: config.billing.http,
  media: config.media.http,
});

/** The metrics of all four processes. */
export async function scrape({ config }: Program): Promise<string> {
  const texts = await Promise.all(
    Object.values(scrapeTargets(config)).map(async (target) => {
      const answer = await fetch(`http://${target}/metrics`, { signal: AbortSignal.timeout(SCRAPE_TIMEOUT_MS) });
      return answer.text();
    }),
  );
  return texts.join('\n');
}
