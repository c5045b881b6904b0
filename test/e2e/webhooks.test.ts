import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI from 'openai';
import { Webhook } from 'standardwebhooks';
import { dropCharge } from '../harness/client.ts';
import { openEventStream } from '../harness/event-stream.ts';
import { startScriptedProgram } from '../harness/scripted-program.ts';
import type { ScriptedProgram } from '../harness/scripted-program.ts';
import { KEYS } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { Received, WebhookReceiver } from '../harness/webhook-receiver.ts';

const START_TIMEOUT_MS = 60_000;
const TEST_TIMEOUT_MS = 60_000;
const SOON_MS = 20_000;

let receiver: WebhookReceiver;
let world: ScriptedProgram;
let openai: OpenAI;
beforeAll(async () => {
  receiver = await startWebhookReceiver();
  world = await startScriptedProgram({}, (config) => ({ ...config, webhooks: { allow: [receiver.host] } }));
  openai = new OpenAI({ apiKey: KEYS.demo, baseURL: `${world.program.base}/v1`, maxRetries: 0 });
}, START_TIMEOUT_MS);
afterAll(async () => {
  await world?.end();
  await receiver?.stop();
}, START_TIMEOUT_MS);

type EventTypes = OpenAI.Webhooks.WebhookCreateParams['event_types'];
type Endpoint = OpenAI.Webhooks.WebhookEndpointWithSecret;
interface Attempted {
  readonly id: string;
  readonly state: string;
  readonly event_id: string;
  readonly next_attempt_at: number | null;
  readonly attempts: readonly { readonly number: number; readonly status_code: number | null }[];
}

const addEndpoint = (path: string, more: object = {}): Promise<Endpoint> =>
  openai.webhooks.create({
    name: path,
    url: receiver.url(path),
    event_types: ['video.completed', 'video.failed'] as EventTypes,
    ...more,
  });
const makeVideo = async (prompt = 'a red boat', more: object = {}): Promise<string> => {
  const { json } = await world.demo.call('POST', '/v1/videos', {
    model: 'Alpha-H3',
    prompt: `[take:0] ${prompt}`,
    seconds: '5',
    size: '1280x720',
    ...more,
  });
  return json.id as string;
};
const aboutTask = (taskId: string) => (request: Received) => request.body.includes(taskId);
/** The first delivery at a path about a task. */
async function delivered(path: string, taskId: string, limitMs = SOON_MS): Promise<Received> {
  await until(() => receiver.at(path).some(aboutTask(taskId)), limitMs);
  return receiver.at(path).find(aboutTask(taskId))!;
}
const idOf = ({ headers }: Received): string => headers['webhook-id'] ?? '';
const deliveriesOf = async (endpointId: string): Promise<readonly Attempted[]> =>
  (await world.demo.call('GET', `/v1/webhook_endpoints/${endpointId}/deliveries`)).json.data;
const restart = async (): Promise<void> => {
  await world.program.stop('SIGKILL');
  await world.program.start();
};

describe('a delivery', () => {
  test(
    'is verified by the verifiers of two packages',
    async () => {
      const { id, signing_secret: secret } = await addEndpoint('/verified');
      const taskId = await makeVideo();

      const { body, headers } = await delivered('/verified', taskId);

      expect(await openai.webhooks.unwrap(body, headers, secret)).toMatchObject({
        object: 'event',
        id: headers['webhook-id'],
        type: 'video.completed',
        data: { id: taskId },
      });
      expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      await expect(openai.webhooks.unwrap(body.replace(taskId, 'task_x'), headers, secret)).rejects.toThrow();
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'of a full payload has what a status read answers, without the charge',
    async () => {
      const { id } = await addEndpoint('/full', { payload: 'full' });
      const taskId = await makeVideo();

      const { body } = await delivered('/full', taskId);

      const { json } = await world.demo.call('GET', `/v1/videos/${taskId}`);
      expect((JSON.parse(body) as { data: object }).data).toEqual({ id: taskId, task: dropCharge(json) });
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'goes to the URL of the request, signed with the default secret of the account',
    async () => {
      const { signing_secret: secret } = await openai.webhooks.rotateSecret('default');
      const taskId = await makeVideo('a red boat', { webhook_url: receiver.url('/of-the-request') });

      const { body, headers } = await delivered('/of-the-request', taskId);

      expect(await openai.webhooks.unwrap(body, headers, secret)).toMatchObject({ data: { id: taskId } });
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'is signed with both secrets after a rotation that keeps the old one',
    async () => {
      const { id, signing_secret: old } = await addEndpoint('/rotated');
      const rotated = await openai.webhooks.rotateSecret(id, { keep_old_secret_active_for_24_hours: true });
      const { body, headers } = await delivered('/rotated', await makeVideo());

      expect(rotated.signing_secret).not.toBe(old);
      for (const secret of [old, rotated.signing_secret]) {
        await openai.webhooks.verifySignature(body, headers, secret);
        expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body));
      }
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'is not delayed by a receiver that hangs and one that fails',
    async () => {
      // before the first attempt, so that no bound below is too small on a machine of any speed
      const begin = performance.now();
      receiver.answer('/hangs', 'hang');
      receiver.answer('/fails', 500);
      const endpoints = await Promise.all(['/hangs', '/fails', '/works'].map((path) => addEndpoint(path)));
      const tasks = await Promise.all(Array.from({ length: 20 }, () => makeVideo()));
      await Promise.all(tasks.map((taskId) => world.demo.finish(taskId)));
      await Promise.all(tasks.map((taskId) => delivered('/works', taskId)));

      const [hung, failed] = ['/hangs', '/fails'].map((path) => receiver.at(path).length);
      const seconds = (performance.now() - begin) / 1000;
      // four at one time, for 15 seconds each
      expect(hung).toBeLessThanOrEqual(4 * (1 + Math.floor(seconds / 15)));
      // four at one time count as one failure, then one at a time until the fifth; then a trial after five seconds each
      expect(failed).toBeLessThanOrEqual(8 + Math.floor(seconds / 5));
      await Promise.all(endpoints.map(({ id }) => openai.webhooks.delete(id)));
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'that is sent again has the same id',
    async () => {
      const { id } = await addEndpoint('/again');
      const first = await delivered('/again', await makeVideo());
      await until(async () => (await deliveriesOf(id))[0]?.state === 'delivered');
      const [delivery] = await deliveriesOf(id);

      const { status } = await world.demo.call('POST', `/v1/webhook_deliveries/${delivery!.id}/resend`);
      await until(() => receiver.at('/again').length === 2);

      expect([status, delivery!.event_id]).toEqual([200, idOf(first)]);
      expect(receiver.at('/again').map(idOf)).toEqual([idOf(first), idOf(first)]);
      expect(receiver.at('/again')[1]!.body).toBe(first.body);
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'that is answered with 410 disables its endpoint',
    async () => {
      receiver.answer('/gone', 410);
      const { id } = await addEndpoint('/gone');
      await delivered('/gone', await makeVideo());
      await until(async () => {
        const { json } = await world.demo.call('GET', `/v1/webhook_endpoints/${id}`);
        return json.status === 'disabled' && json.disabled_reason === 'gone';
      });
      const taskId = await makeVideo();
      await world.demo.finish(taskId);

      expect(receiver.at('/gone')).toHaveLength(1);
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );
});

describe('a receiver that was mended', () => {
  /** No test waits for it: only the recovery sends the deliveries again. */
  const RETRY_AFTER_S = 3600;
  const act = (method: string, path: string, body?: object) => world.demo.call(method, path, body);

  test.each<[string, (endpointId: string, deliveryId: string) => Promise<unknown>]>([
    ['a further event succeeds', async () => makeVideo()],
    [
      'one delivery is sent again',
      async (_id, deliveryId) => act('POST', `/v1/webhook_deliveries/${deliveryId}/resend`),
    ],
    [
      'those that failed are sent again',
      async (id) => act('POST', `/v1/webhook_endpoints/${id}/resend_failed`, { since: 0 }),
    ],
    ['its endpoint is enabled', async (id) => act('POST', `/v1/webhook_endpoints/${id}`, { status: 'enabled' })],
  ])(
    'hears all that waits once %s',
    async (what, mend) => {
      const path = `/mended/${what.replaceAll(' ', '-')}`;
      receiver.answer(path, 503, { retryAfter: RETRY_AFTER_S });
      const { id } = await addEndpoint(path);
      const later = Math.floor(Date.now() / 1000) + RETRY_AFTER_S;
      const tasks = [await makeVideo(), await makeVideo()];
      await until(async () => {
        const waiting = await deliveriesOf(id);
        return waiting.length === 2 && waiting.every(({ next_attempt_at: next }) => next !== null && next >= later);
      }, SOON_MS);
      const [delivery] = await deliveriesOf(id);
      receiver.answer(path, 204);
      await mend(id, delivery!.id);

      for (const taskId of tasks) await until(() => receiver.at(path).filter(aboutTask(taskId)).length === 2, SOON_MS);
      await until(async () => (await deliveriesOf(id)).every(({ state }) => state === 'delivered'), SOON_MS);
      expect((await deliveriesOf(id)).every(({ next_attempt_at: next }) => next === null)).toBe(true);
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'a resend of a pending delivery answers that it is due now, under a new schedule',
    async () => {
      receiver.answer('/pending', 503, { retryAfter: RETRY_AFTER_S });
      const { id } = await addEndpoint('/pending');
      const later = Math.floor(Date.now() / 1000) + RETRY_AFTER_S;
      await makeVideo();
      await until(async () => ((await deliveriesOf(id))[0]?.next_attempt_at ?? 0) >= later, SOON_MS);
      const [delivery] = await deliveriesOf(id);
      receiver.answer('/pending', 'hang');

      const { json } = await act('POST', `/v1/webhook_deliveries/${delivery!.id}/resend`);

      expect(json).toMatchObject({ id: delivery!.id, state: 'pending' });
      expect(json.next_attempt_at).toBeLessThanOrEqual(Math.ceil(Date.now() / 1000));
      await openai.webhooks.delete(id);
    },
    TEST_TIMEOUT_MS,
  );
});

test(
  'a stream goes on over a kill without a gap and without a repeat',
  async () => {
    const stream = await openEventStream(world.program.base, KEYS.demo);
    const first = await makeVideo();
    await until(() => stream.events.some(({ data }) => data.includes(first)), SOON_MS);
    const cutOff = await makeVideo('[gate] a red boat');
    await restart();
    await stream.ended;
    world.upstream.openGate();
    await world.demo.finish(cutOff);

    const again = await openEventStream(world.program.base, KEYS.demo, { after: stream.lastId() });
    const last = await makeVideo();
    await until(() => again.events.some(({ data }) => data.includes(last)), SOON_MS);
    again.leave();

    const subjects = [...stream.events, ...again.events].map(({ data }) => JSON.parse(data).data.id as string);
    expect(subjects).toEqual([first, cutOff, last]);
  },
  TEST_TIMEOUT_MS,
);

test(
  'a delivery that was sent but not recorded when the program was killed is sent again under the same id',
  async () => {
    receiver.answer('/killed', 'hang');
    const { id, signing_secret: secret } = await addEndpoint('/killed');
    const taskId = await makeVideo();
    const first = await delivered('/killed', taskId);
    await world.program.stop('SIGKILL');
    receiver.answer('/killed', 204);
    await world.program.start();
    await until(() => receiver.at('/killed').length === 2, SOON_MS);
    const [, second] = receiver.at('/killed');

    expect(idOf(second!)).toBe(idOf(first));
    expect(await openai.webhooks.unwrap(second!.body, second!.headers, secret)).toMatchObject({ data: { id: taskId } });
    await until(async () => (await deliveriesOf(id))[0]?.state === 'delivered');
  },
  TEST_TIMEOUT_MS,
);
