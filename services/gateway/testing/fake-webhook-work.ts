import type { MessageInitShape } from '@bufbuild/protobuf';
import type { Client, Implementation } from '@reelgate/platform/rpc/service';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import type { SendWebhookRequest } from '@reelgate/proto/media/v1/media_service';
import type { LeasedWebhookReceiverSchema, WebhookReceiverRecord } from '@reelgate/proto/tasks/v1/webhook_service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';

const LEASE_MS = 60_000n;

/** The receivers that a worker may lease, each of them once, and what it has recorded. */
export interface FakeWebhookWork {
  readonly due: MessageInitShape<typeof LeasedWebhookReceiverSchema>[];
  readonly records: WebhookReceiverRecord[];
  readonly methods: Pick<
    Implementation<typeof WebhookService>,
    'leaseWebhookReceivers' | 'renewWebhookLeases' | 'recordWebhookAttempts'
  >;
}

export function fakeWebhookWork(): FakeWebhookWork {
  const due: FakeWebhookWork['due'] = [];
  const records: WebhookReceiverRecord[] = [];
  return {
    due,
    records,
    methods: {
      leaseWebhookReceivers: async ({ limit }) => ({ receivers: due.splice(0, limit), leaseMs: LEASE_MS }),
      renewWebhookLeases: async () => ({ leaseMs: LEASE_MS }),
      recordWebhookAttempts: async (request) => {
        records.push(...request.records);
        return {};
      },
    },
  };
}

/** The sender of the media service: every receiver answers with 204. */
export interface FakeSends {
  readonly client: Pick<Client<typeof MediaService>, 'sendWebhook'>;
  readonly requests: SendWebhookRequest[];
}

export function fakeSends(): FakeSends {
  const requests: SendWebhookRequest[] = [];
  const sendWebhook = async (request: SendWebhookRequest): Promise<{ statusCode: number; durationMs: bigint }> => {
    requests.push(request);
    return { statusCode: 204, durationMs: 5n };
  };
  return { requests, client: directClient(MediaService, partialService(MediaService, { sendWebhook }), aCaller()) };
}
