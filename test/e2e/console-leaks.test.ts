import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { httpCaller } from '../harness/client.ts';
import type { Answer } from '../harness/client.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import { CHANNEL, KEYS, SIGNING_KEY, UPSTREAM_KEY, UPSTREAM_MODEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';

const CATALOGUE = ['/v1/videos/models', '/v1/videos/models/Alpha-H3'];
const TIMEOUT_MS = 120_000;
const OTHERS_WORDS = 'words-of-another-account';

let receiver: WebhookReceiver;
let world: ScriptedProgram;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  world = await startScriptedProgram({}, (config) => ({
    ...withTokensRight(config),
    webhooks: { allow: [receiver.host] },
  }));
}, TIMEOUT_MS);
afterAll(async () => {
  await world?.end();
  await receiver?.stop();
}, TIMEOUT_MS);

function withTokensRight(config: TestConfig): TestConfig {
  for (const { tokens } of config.accounts) for (const token of tokens) Object.assign(token, { tokens: 'write' });
  return config;
}

/** A browser that is signed in with the token of `demo`. It remembers every answer. */
async function signIn(): Promise<Browser> {
  const { base } = world.program;
  const own = { origin: base, 'x-reelgate-console': '1' };
  const { call } = httpCaller(base, undefined);
  const seen: Answer[] = [];
  const session = await call('POST', '/console/api/session', { token: KEYS.demo }, own);
  const [cookie = ''] = (session.headers.get('set-cookie') ?? '').split(';');
  seen.push(session);
  return {
    cookie,
    seen,
    ask: async (method, path, body) => {
      const answer = await call(method, `/console/api${path}`, body, { ...own, cookie });
      seen.push(answer);
      return answer;
    },
  };
}

interface Browser {
  readonly cookie: string;
  readonly seen: Answer[];
  ask(method: string, path: string, body?: object): Promise<Answer>;
}

const prompted = (prompt: string) => ({ model: 'Alpha-H3', prompt, duration: 5, resolution: '768P', ratio: '16:9' });

/** Makes tasks with every kind of end, as a page does. Returns their ids. */
async function makeTasks({ ask }: Browser): Promise<Record<'done' | 'failed' | 'running', string>> {
  const make = async (path: string, body: object): Promise<string> => (await ask('POST', path, body)).json.task_id;
  const done = await make('/v1/videos', prompted('[take:0] a red boat'));
  const failed = await make('/v1/video/generations', prompted('[take:0] [fail] a red boat'));
  const content = [{ type: 'text', text: '[gate] [poll:html] a red boat' }];
  const order = { model: 'Alpha-H3', content, duration: 5, resolution: '768P', ratio: '16:9' };
  const running = await make('/v2/video_generation', order);
  // the upstream's refusal quotes its credential
  await ask('POST', '/v1/videos', prompted('[quote:400] a red boat'));
  const demo = httpCaller(world.program.base, KEYS.demo);
  await demo.finish(done);
  await demo.finish(failed, 'failed');
  return { done, failed, running };
}

/** Uses what an account has for its webhooks, and ends with a delivery. */
async function useWebhooks({ ask }: Browser, taskId: string): Promise<void> {
  const endpoints = '/v1/webhook_endpoints';
  const settings = { name: 'one', url: receiver.url('/one'), event_types: ['video.completed', 'video.failed'] };
  const { id } = (await ask('POST', endpoints, settings)).json;
  const made = (await ask('POST', '/v1/videos', prompted('[take:0] another boat'))).json;
  await until(() => receiver.at('/one').some(({ body }) => body.includes(made.id)), TIMEOUT_MS);
  const page = await ask('GET', `${endpoints}/${id}/deliveries`);
  const [delivery] = page.json.data;
  await ask('GET', `/v1/webhook_deliveries/${delivery.id}`);
  await ask('POST', `/v1/webhook_deliveries/${delivery.id}/resend`);
  await ask('GET', '/webhooks');
  await ask('GET', `/webhooks/${id}`);
  await ask('GET', `/webhooks/${id}/${delivery.id}`);
  await ask('GET', endpoints);
  await ask('GET', `${endpoints}/${id}`);
  await ask('GET', '/v1/webhook_event_types');
  await ask('POST', `${endpoints}/${id}`, { name: 'two' });
  await ask('POST', `${endpoints}/${id}/rotate_secret`, {});
  await ask('POST', `${endpoints}/${id}/test`, { event_type: 'video.completed' });
  await ask('POST', `${endpoints}/${id}/resend_failed`, { since: 0 });
  await ask('DELETE', `${endpoints}/${id}`);
  await ask('GET', `/tasks/${taskId}`);
}

/** The routes of the client console that no request has reached. */
async function unreached(): Promise<readonly string[]> {
  const text = await (await fetch(`http://${world.program.config.gateway.admin}/metrics`)).text();
  const lines = text.matchAll(
    /^reelgate_gateway_requests_total\{route="(\/console\/api[^"]*)",kind="\w+",method="(\w+)",status="\d+"\} (\d+)/gm,
  );
  const counts = new Map<string, number>();
  for (const [, route = '', method = '', count = ''] of lines) {
    const name = `${method} ${route}`;
    counts.set(name, (counts.get(name) ?? 0) + Number(count));
  }
  expect(counts.size).toBeGreaterThan(40);
  return [...counts].filter(([, count]) => count === 0).map(([name]) => name);
}

test(
  'no answer of any route of the client console tells of an upstream, of a channel or of another account',
  async () => {
    const other = httpCaller(world.program.base, KEYS.other);
    const others = await other.create('/v1/videos', prompted(`[gate] ${OTHERS_WORDS}`));
    const page = await signIn();
    const stream = readConsoleStream(page.cookie, ['tasks', 'webhooks', `task:${others}`]);
    const { done, failed, running } = await makeTasks(page);
    const { ask } = page;
    await useWebhooks(page, done);

    await until(async () => {
      const { json } = await ask('GET', `/tasks/${done}`);
      return json.unavailable.length === 0 && json.money?.charged?.amount === '0.4';
    }, TIMEOUT_MS);
    for (const id of [done, failed, running, others]) {
      for (const path of ['/tasks', '/v1/videos', '/v1/video/generations']) await ask('GET', `${path}/${id}`);
      await ask('GET', `/v1/videos/${id}/content?variant=thumbnail`);
    }
    for (const path of ['/me', '/home', '/tasks', '/usage', '/usage?split=token', '/tokens', '/try'])
      await ask('GET', path);
    for (const path of [
      '/v1/videos',
      '/v1/usage',
      '/v1/usage/items',
      '/v1/models',
      '/v1/models/Alpha-H3',
      '/v1/models/No-Such',
      ...CATALOGUE,
    ])
      await ask('GET', path);
    await ask('POST', '/v1/videos/estimate', prompted('a boat'));
    await ask('POST', `/v1/videos/${done}/remix`, { model: 'Alpha-H3', resolution: '2K' });
    await ask('POST', `/v1/videos/${running}/cancel`);
    await ask('DELETE', `/v2/video_generation/${others}`);
    await ask('DELETE', `/v1/videos/${failed}`);
    const made = await ask('POST', '/tokens', { name: 'new', models: ['*'], webhooks: 'none', tokens: 'none' });
    await ask('DELETE', `/tokens/${made.json.token.id}`);
    await ask('DELETE', '/sessions');
    await ask('DELETE', '/session');

    const secrets = [
      ...[CHANNEL, 'account-of-the-test', 'alpha-v2', UPSTREAM_KEY, UPSTREAM_MODEL, world.upstream.host],
      ...world.upstream.works.map(({ id }) => id),
      ...[SIGNING_KEY, KEYS.other, KEYS.demo, OTHERS_WORDS],
    ];
    const texts = page.seen.map(({ text, headers }) => text + JSON.stringify([...headers]));
    const told = await stream.end();
    expect(await unreached()).toEqual([]);
    expect(world.upstream.works.length).toBeGreaterThan(3);
    expect(secrets.filter((secret) => [...texts, told].some((text) => text.includes(secret)))).toEqual([]);
    expect(told).toContain(done);
    expect(told).not.toContain(others);
    world.upstream.openGate();
  },
  TIMEOUT_MS,
);

/** Reads a stream of changes until it is ended. */
function readConsoleStream(cookie: string, topics: readonly string[]): { end(): Promise<string> } {
  const leaving = new AbortController();
  const read = async (): Promise<string> => {
    const path = `/console/api/stream?topics=${encodeURIComponent(topics.join(','))}`;
    const { body } = await fetch(world.program.base + path, { headers: { cookie }, signal: leaving.signal });
    let text = '';
    try {
      for await (const part of body ?? []) text += Buffer.from(part).toString('utf8');
    } catch (error) {
      if (!leaving.signal.aborted) throw error;
    }
    return text;
  };
  const whole = read();
  return {
    end: () => {
      leaving.abort();
      return whole;
    },
  };
}
