import { afterAll, beforeAll, beforeEach } from '@jest/globals';
import type { CheckedRelayChannel } from '../src/relay/channels/relay-channel-config.ts';
import { aRelayChannel } from './a-relay-channel.ts';
import { startGatewayUnderTest } from './gateway-under-test.ts';
import type { GatewayUnderTest } from './gateway-under-test.ts';
import { untilAfter } from '@reelgate/platform/testing/until';
import { DELIVERED, json, startRelayUpstream } from './scripted-relay-upstream.ts';
import type { RelayUpstream } from './scripted-relay-upstream.ts';

export interface RelayUnderTest {
  readonly gateway: GatewayUnderTest;
  /** The upstreams of the channels, in the order of attempts. */
  readonly upstreams: readonly RelayUpstream[];
  readonly first: RelayUpstream;
  readonly second: RelayUpstream;
}

/** A gateway with two channels, each with its own upstream. Its state is reset between tests. */
export function withRelay(settings: Partial<CheckedRelayChannel> = {}): () => RelayUnderTest {
  let under: RelayUnderTest;
  beforeAll(async () => {
    const [first, second] = [await startRelayUpstream(), await startRelayUpstream()];
    const channels = [
      aRelayChannel({ id: 'channel-one', base_url: first.url, priority: 1, ...settings }),
      aRelayChannel({ id: 'channel-two', base_url: second.url, api_key: 'second-secret-key', ...settings }),
    ];
    under = { gateway: await startGatewayUnderTest({ channels }), upstreams: [first, second], first, second };
  });
  beforeEach(async () => {
    // closes a circuit that a test has opened
    await under.gateway.clock.advance(60_000);
    for (const upstream of under.upstreams) {
      upstream.seen.length = 0;
      upstream.reply = json(DELIVERED);
    }
    const { calls } = under.gateway;
    await untilAfter(under.gateway.clock, () => calls.open.size === 0);
    Object.assign(calls, {
      refusal: undefined,
      settleFaults: 0,
      left: undefined,
      held: 1n,
      reserving: undefined,
      confirming: undefined,
    });
    under.gateway.warnings.length = 0;
    for (const list of [calls.placed, calls.settled, calls.batches]) list.length = 0;
  });
  afterAll(async () => {
    await under.gateway.stop();
    for (const upstream of under.upstreams) await upstream.stop();
  });
  return () => under;
}
