import { afterEach, expect, test } from '@jest/globals';
import { WebhookRight } from '@reelgate/proto/billing/v1/webhook_right';
import { aRelayChannel } from '../../../testing/a-relay-channel.ts';
import { startGatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../../testing/gateway-under-test.ts';
import { signIn } from '../../../testing/signed-in.ts';

let under: GatewayUnderTest;
afterEach(() => under.stop());

test('the form has the video models that the token may use, with what they take', async () => {
  under = await startGatewayUnderTest({ channels: [aRelayChannel({ models: { chatty: 'up-1' } })] });
  under.billing.tokens.set('rg_token-of-beta', {
    models: ['Beta-V1', 'chatty', 'Hidden'],
    webhooks: WebhookRight.READ,
  });
  const at = await signIn(under, 'rg_token-of-beta');

  expect((await at.get('/try')).json).toEqual({
    models: [
      {
        id: 'Beta-V1',
        duration: { min: 6, max: 10 },
        resolutions: ['480P', '720P'],
        ratios: ['adaptive', '1:1', '9:16'],
        defaults: { duration: 6, resolution: '480P', ratio: '1:1' },
      },
    ],
    bodyBytesMax: 64 * 1024 * 1024,
    webhooks: false,
  });
});
