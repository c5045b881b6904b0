import { expect, test } from '@jest/globals';
import { directClient } from '@reelgate/platform/rpc/direct-client';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import { partialService } from '@reelgate/platform/testing/partial-service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { billingAuthenticate } from './billing-client.ts';

test.each([
  [WebhookRight.UNSPECIFIED, 'write'],
  [WebhookRight.WRITE, 'write'],
  [WebhookRight.READ, 'read'],
  [WebhookRight.NONE, 'none'],
])('a principal with the right %d of billing has the right %s of webhooks', async (webhooks, word) => {
  const binding = partialService(BillingService, {
    authenticate: async () => ({ principal: { accountId: 'demo', tokenId: 'token_1', models: ['*'], webhooks } }),
  });

  const principal = await billingAuthenticate(directClient(BillingService, binding, aCaller()))('sk-key', 'request_1');

  expect(principal).toMatchObject({ accountId: 'demo', webhooks: word });
});
