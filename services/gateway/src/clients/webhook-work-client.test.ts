import { expect, test } from '@jest/globals';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { JobSchema } from '@reelgate/proto/tasks/v1/job';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { RecordWebhookAttemptsRequest, RenewWebhookLeasesRequest } from '@reelgate/proto/tasks/v1/webhook_service';
import { aTask } from '../../testing/a-task.ts';
import { webhookWorkClient } from './webhook-work-client.ts';
import type { WebhookWork } from './webhook-work-client.ts';

const AT = Date.UTC(2026, 0, 1, 0, 0, 0, 5);
const opened = (methods: Partial<Implementation<typeof WebhookService>>): WebhookWork =>
  webhookWorkClient(directClient(WebhookService, partialService(WebhookService, methods), aCaller()), 'gateway_1');

test('leased receivers come in the types of the gateway, and their secrets print nothing', async () => {
  const event = { id: 'evt_1', type: 'video.completed', subjectId: 'task_1', createdAt: timestampFromMs(AT) };
  const task = aTask();
  const limits: unknown[] = [];
  const work = opened({
    leaseWebhookReceivers: async ({ limit, worker }) => {
      limits.push({ limit, worker });
      return {
        leaseMs: 60_000n,
        receivers: [
          {
            receiverId: 'whe_1',
            lease: 'lease_1',
            accountId: 'demo',
            payload: WebhookPayload.FULL,
            failures: 3,
            circuit: 12n,
            secrets: ['whsec_AQ=='],
            deliveries: [
              {
                deliveryId: 'whd_1',
                attempt: 2,
                url: 'https://a/',
                event: { ...event, subject: { case: 'task', value: task } },
              },
              { deliveryId: 'whd_2', attempt: 1, url: 'https://a/', event: { ...event, dataJson: '{"a":1}' } },
              {
                deliveryId: 'whd_3',
                attempt: 1,
                url: 'https://a/',
                event: { ...event, subject: { case: 'job', value: create(JobSchema, { id: 'job_1' }) } },
              },
            ],
          },
        ],
      };
    },
  });

  const { receivers, leaseMs } = await work.lease(7);

  const expected = { id: 'evt_1', type: 'video.completed', subjectId: 'task_1', createdAt: AT, dataJson: '' };
  expect([leaseMs, limits]).toEqual([60_000, [{ limit: 7, worker: 'gateway_1' }]]);
  expect(receivers).toMatchObject([
    {
      id: 'whe_1',
      lease: 'lease_1',
      accountId: 'demo',
      payload: 'full',
      failures: 3,
      circuit: 12,
      deliveries: [
        { id: 'whd_1', attempt: 2, url: 'https://a/', event: { ...expected, subject: { task: { id: task.id } } } },
        { id: 'whd_2', attempt: 1, url: 'https://a/', event: { ...expected, dataJson: '{"a":1}', subject: undefined } },
        { id: 'whd_3', event: { subject: { job: { id: 'job_1', state: 'in_progress' } } } },
      ],
    },
  ]);
  expect(receivers[0]!.secrets.map((secret) => secret.reveal())).toEqual(['whsec_AQ==']);
  expect(JSON.stringify(receivers[0]!.secrets)).toBe('["***"]');
});

test('leases are renewed, and lost ones come back', async () => {
  const requests: RenewWebhookLeasesRequest[] = [];
  const work = opened({
    renewWebhookLeases: async (request) => {
      requests.push(request);
      return { lostReceiverIds: ['whe_2'], leaseMs: 10_000n };
    },
  });
  const leases = [
    { receiverId: 'whe_1', lease: 'lease_1' },
    { receiverId: 'whe_2', lease: 'lease_1' },
  ];

  expect(await work.renew(leases)).toEqual(['whe_2']);
  expect(requests).toMatchObject([{ leases }]);
});

test('records are sent as attempts of their deliveries, and lost leases come back', async () => {
  const requests: RecordWebhookAttemptsRequest[] = [];
  const work = opened({
    recordWebhookAttempts: async (request) => {
      requests.push(request);
      return { lostReceiverIds: ['whe_1'] };
    },
  });
  const attempt = {
    deliveryId: 'whd_1',
    number: 2,
    at: AT,
    durationMs: 12,
    status: 429,
    error: 'status',
    requestHeaders: { 'webhook-id': 'evt_1' },
    answerHead: 'later',
    retryAfterMs: 9000,
    circuit: 7,
  };

  const lost = await work.record([{ receiverId: 'whe_1', lease: 'lease_1', attempts: [attempt], returned: true }]);

  expect(lost).toEqual(['whe_1']);
  expect(requests).toMatchObject([
    {
      records: [
        {
          receiverId: 'whe_1',
          lease: 'lease_1',
          returned: true,
          attempts: [
            {
              deliveryId: 'whd_1',
              retryAfterMs: 9000n,
              circuit: 7n,
              attempt: {
                number: 2,
                at: timestampFromMs(AT),
                durationMs: 12n,
                statusCode: 429,
                error: 'status',
                requestHeaders: { 'webhook-id': 'evt_1' },
                answerHead: 'later',
              },
            },
          ],
        },
      ],
    },
  ]);
});
