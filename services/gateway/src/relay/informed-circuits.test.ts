import { timestampMs } from '@bufbuild/protobuf/wkt';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { FAULTS_TO_OPEN } from '@reelgate/platform/limits/circuit-breaker';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import { aRelayChannel } from '../../testing/a-relay-channel.ts';
import { checkedConfig, startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { call } from '../../testing/http-call.ts';

const PASS_MS = 5000;
/** Nothing listens there. */
const NOWHERE = 'http://127.0.0.1:9';

let gateway: GatewayUnderTest;
let told: { readonly at: number; readonly type: string; readonly subject: string }[];
beforeEach(async () => {
  gateway = await startGatewayUnderTest({ channels: [aRelayChannel({ id: 'chat-a', base_url: NOWHERE })] });
  told = [];
  await gateway.bus.subscribe(ServiceEventSchema, 'test', async ({ at, type, subject }) => {
    told.push({ at: timestampMs(at!), type, subject });
  });
});
afterEach(() => gateway.stop());

test('a circuit of a relay channel that opens is told once, for the hand-over of operators', async () => {
  const body = { model: 'some-model', messages: [{ role: 'user', content: 'hello' }] };
  for (let fault = 0; fault < FAULTS_TO_OPEN; fault += 1)
    await call(gateway.url, 'POST', '/v1/chat/completions', { body });
  await gateway.clock.advance(PASS_MS);
  await gateway.clock.advance(PASS_MS);

  expect(told).toMatchObject([{ type: 'circuit_opened', subject: 'chat-a' }]);
});

test('a configuration that the gateway takes up is told', async () => {
  const { clock } = gateway;
  await gateway.gateway.reload(checkedConfig({}));
  await clock.advance(0);

  expect(told).toEqual([{ at: clock.now(), type: 'configuration_applied', subject: 'gateway' }]);
});
