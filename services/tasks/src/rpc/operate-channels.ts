import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { withTimeout } from '@reelgate/platform/clock';
import { WINDOW_MS } from '@reelgate/platform/limits/window-log';
import { workMsWithin } from '@reelgate/platform/passed-deadline';
import type { Implementation } from '@reelgate/platform/rpc/service';
import { toMessage, toTimestamp } from '@reelgate/platform/rpc/whole-message';
import { ChannelPauseSchema } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelPause } from '@reelgate/proto/tasks/v1/channel_pause';
import { ChannelStatusSchema } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelStatus, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import type { ChannelRuntime } from '../channels/channel-registry.ts';
import { channelScope } from '../domain/in-flight-scope.ts';
import type { Deps } from '../operations/deps.ts';
import { channelNotFound, listPauses, pauseChannel, resumeChannel } from '../operations/operators/pause-channel.ts';
import type { OperatorDeps } from '../operations/operators/pause-channel.ts';
import type { Pause } from '../store/operator-store.ts';
import { toWireCalls, toWireWait } from './mapping-channel.ts';

const TEST_TIMEOUT_MS = 20_000;
const SECOND_MS = 1000;

/** The view of channels for operators. */
export function operateChannels(deps: Deps, operate: OperatorDeps) {
  const { channels, clock } = deps;
  const { operators } = operate;
  return {
    listChannels: async () => {
      const pauses = new Map((await listPauses(operate)).map((pause) => [pause.channel, pause]));
      return {
        channels: await Promise.all(
          channels.all().map((runtime) => readChannelStatus(deps, runtime, pauses.get(runtime.channel.settings.id))),
        ),
      };
    },
    testChannel: async ({ id, actor }, { signal }) => {
      const runtime = channels.find(id);
      if (runtime === undefined) throw channelNotFound();
      const begun = clock.now();
      // An upstream that hangs is named before the call ends.
      const bounds = { ms: workMsWithin(signal, TEST_TIMEOUT_MS), caller: signal };
      const { ok, detail } = await withTimeout(clock, bounds, async (limit) => {
        const tested = await runtime.channel.test(limit);
        return !tested.ok && limit.aborted ? { ok: false, detail: 'the upstream gave no answer' } : tested;
      });
      const at = clock.now();
      const act = { at, actor, action: 'channel_tested', subject: id, reason: '' } as const;
      if (actor !== '') await operators.addAct({ ...act, detail: { ok, tookMs: at - begun } });
      return { ok, detail, tookMs: BigInt(at - begun) };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

/** The pauses of channels. */
export function operatePauses(operate: OperatorDeps) {
  return {
    pauseChannel: async ({ id, actor, reason, forSeconds }, { caller }) => {
      const durationMs = forSeconds === 0 ? undefined : forSeconds * SECOND_MS;
      const request = { channel: id, actor: actor || caller.name, reason, durationMs };
      return { pause: toWirePause(await pauseChannel(operate, request)) };
    },
    resumeChannel: async ({ id, actor, reason }, { caller }) => ({
      wasPaused: await resumeChannel(operate, { channel: id, actor: actor || caller.name, reason }),
    }),
    listChannelPauses: async ({ withCalls }) => {
      const { operators, clock } = operate;
      return {
        pauses: (await listPauses(operate)).map(toWirePause),
        waits: (await operators.listWaits(clock.now())).map(toWireWait),
        calls: withCalls ? (await operators.listCalls(clock.now() - WINDOW_MS)).map(toWireCalls) : [],
      };
    },
  } satisfies Partial<Implementation<typeof OperatorService>>;
}

function toWirePause({ channel, at, actor, reason, endsAt }: Pause): ChannelPause {
  return toMessage(ChannelPauseSchema, {
    channel,
    at: timestampFromMs(at),
    actor,
    reason,
    endsAt: toTimestamp(endsAt),
  });
}

async function readChannelStatus(
  { store }: Deps,
  { channel: { settings }, circuit }: ChannelRuntime,
  pause: Pause | undefined,
): Promise<ChannelStatus> {
  return toMessage(ChannelStatusSchema, {
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
    pause: pause && toWirePause(pause),
  });
}
