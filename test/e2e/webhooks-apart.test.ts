import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import OpenAI from 'openai';
import { dropCharge, httpCaller } from '../harness/client.ts';
import type { HttpCaller } from '../harness/client.ts';
import { newDatabases } from '../harness/databases.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { KEYS } from '../harness/test-config.ts';
import { startWebhookReceiver } from '../harness/webhook-receiver.ts';
import type { WebhookReceiver } from '../harness/webhook-receiver.ts';
import { describeWith } from '../servers/describe-with.ts';
import { natsServer } from '../servers/nats-server.ts';
import { postgresServer } from '../servers/postgres-server.ts';

const TIMEOUT_MS = 120_000;
const SOON_MS = 60_000;
const REST_MS = 3000;

interface Delivery {
  readonly id: string;
  readonly state: string;
  readonly attempt_count: number;
}

describeWith(natsServer, 'webhooks of four processes', (bus) => {
  describeWith(postgresServer, 'each with a database of its own', (postgres) => {
    let receiver: WebhookReceiver;
    let upstream: ScriptedUpstream;
    let program: Program;
    let demo: HttpCaller;
    let openai: OpenAI;
    beforeAll(async () => {
      [receiver, upstream] = await Promise.all([startWebhookReceiver(), startScriptedUpstream()]);
      const databases = await newDatabases(postgres());
      const options = { upstream: upstream.host, bus: bus(), databases };
      program = await newProgram('four processes', options, (config) => ({
        ...config,
        webhooks: { allow: [receiver.host] },
      }));
      await program.start();
      demo = httpCaller(program.base, KEYS.demo);
      openai = new OpenAI({ apiKey: KEYS.demo, baseURL: `${program.base}/v1`, maxRetries: 0 });
    }, TIMEOUT_MS);
    afterAll(async () => {
      await program?.end();
      await upstream?.stop();
      await receiver?.stop();
    }, TIMEOUT_MS);

    const addEndpoint = (
      path: string,
      payload: 'thin' | 'full',
    ): Promise<OpenAI.Webhooks.WebhookEndpointWithSecret> => {
      const settings = { name: path, url: receiver.url(path), event_types: ['video.completed'], payload };
      return openai.webhooks.create(settings as never);
    };
    const makeVideo = (): Promise<string> =>
      demo.create('/v1/videos', { model: 'Alpha-H3', prompt: '[take:0] a red boat', seconds: '5', size: '1280x720' });
    const deliveries = async (endpointId: string): Promise<readonly Delivery[]> =>
      (await demo.call('GET', `/v1/webhook_endpoints/${endpointId}/deliveries`)).json.data;

    test(
      'a full delivery is signed and has what a status read answers, without the charge',
      async () => {
        const { id, signing_secret: secret } = await addEndpoint('/apart', 'full');
        const taskId = await makeVideo();
        await until(() => receiver.at('/apart').length === 1, SOON_MS);
        const [{ body, headers } = { body: '', headers: {} }] = receiver.at('/apart');

        expect(await openai.webhooks.unwrap(body, headers, secret)).toMatchObject({ data: { id: taskId } });
        const { json } = await demo.call('GET', `/v1/videos/${taskId}`);
        expect((JSON.parse(body) as { data: object }).data).toEqual({ id: taskId, task: dropCharge(json) });
        await openai.webhooks.delete(id);
      },
      TIMEOUT_MS,
    );

    test(
      'a delivery waits for media that is away, and this is no failure of the receiver',
      async () => {
        const { id } = await addEndpoint('/waits', 'thin');
        await makeVideo();
        await until(async () => (await deliveries(id))[0]?.state === 'delivered', SOON_MS);
        const [first] = await deliveries(id);
        const back = program.killOne('media', REST_MS);
        await demo.call('POST', `/v1/webhook_deliveries/${first!.id}/resend`);
        await back;
        await until(async () => receiver.at('/waits').length === 2, SOON_MS);
        await until(async () => (await deliveries(id))[0]?.state === 'delivered', SOON_MS);

        expect(await deliveries(id)).toMatchObject([{ id: first!.id, attempt_count: 2 }]);
      },
      TIMEOUT_MS,
    );
  });
});
