import { Problem } from '@reelgate/platform/problem';
import type { Implementation } from '@reelgate/platform/rpc/service';
import type { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { channelScope } from '../domain/in-flight-scope.ts';
import type { Deps } from '../operations/deps.ts';

const TEST_TIMEOUT_MS = 20_000;

/** The view of channels for operators. */
export function operateChannels(
  deps: Deps,
): Pick<Implementation<typeof OperatorService>, 'listChannels' | 'testChannel'> {
  const { channels, clock } = deps;
  return {
    listChannels: async () => ({
      channels: await Promise.all(channels.all().map((runtime) => statusOf(deps, runtime))),
    }),
    testChannel: async ({ id }) => {
      const runtime = channels.find(id);
      if (runtime === undefined)
        throw new Problem({
          kind: 'not_found',
          reason: 'channel_not_found',
          message: 'no such channel; `channel list` shows every channel',
        });
      const begun = clock.now();
      const { ok, detail } = await runtime.channel.test(AbortSignal.timeout(TEST_TIMEOUT_MS));
      return { ok, detail, tookMs: BigInt(clock.now() - begun) };
    },
  };
}

async function statusOf({ store }: Deps, { channel: { settings }, circuit }: ChannelRuntime) {
  return {
    id: settings.id,
    adapter: settings.adapter,
    upstreamAccount: settings.upstreamAccount,
    enabled: settings.enabled,
    circuit: circuit.state(),
    inFlight: await store.inFlight(channelScope(settings.id)),
    inFlightLimit: settings.inFlightMax,
    requestsPerMinute: settings.requestsPerMinute,
    priority: settings.priority,
    weight: settings.weight,
    models: Object.keys(settings.models),
    endpoints: [...settings.endpoints],
  };
}
