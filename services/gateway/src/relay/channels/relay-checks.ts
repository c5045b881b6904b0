import { ok } from '@reelgate/platform/diagnosis/self-checks';
import type { SelfCheck, Verdict } from '@reelgate/platform/diagnosis/self-checks';
import { judgeProbe } from '@reelgate/platform/limits/probe-suspects';
import type { ProbeVerdict } from '@reelgate/platform/limits/probe-suspects';
import type { RelayChannel, RelayChannels } from './relay-channels.ts';

/** The longest time of one call. A channel that hangs hides no other. */
const CALL_MS_MAX = 3000;
/** The maximum number of channels that are called concurrently. */
const CHANNELS_MAX = 64;
/** Upstreams list their models to every caller with a key, free of charge. */
const MODELS = '/v1/models';
const GOOGLE_MODELS = '/v1beta/models';
const REFUSED_KEY: ReadonlySet<number> = new Set([401, 403]);
const FAULT = 500;

/**
 * Checks whether the channels of the synchronous routes work, by their circuits and by a call that is free of charge.
 */
export function relayCheck(channels: RelayChannels, callMsMax = CALL_MS_MAX): SelfCheck {
  return {
    part: 'relay channels',
    check: async (signal) => {
      const enabled = channels.all().filter(({ settings }) => settings.enabled);
      const called = enabled.slice(0, CHANNELS_MAX);
      const answers = await Promise.all(
        called.map((channel) => checkChannel(channel, AbortSignal.any([signal, AbortSignal.timeout(callMsMax)]))),
      );
      const faults = [...enabled.flatMap(checkCircuit), ...answers.flatMap((verdict) => verdict ?? [])];
      return faults.length > 0 ? faults : ok(`${enabled.length} enabled; ${summariseCalls(called.length)}`);
    },
  };
}

/** Makes the call of the check on one channel. */
export async function testRelayChannel(
  channel: RelayChannel,
  callMsMax = CALL_MS_MAX,
): Promise<{ readonly ok: boolean; readonly detail: string }> {
  const verdict = await checkChannel(channel, AbortSignal.timeout(callMsMax));
  return { ok: verdict === undefined, detail: verdict?.detail ?? 'the upstream answers' };
}

function summariseCalls(called: number): string {
  return called === 0 ? 'there is nothing to call' : `${called} answer, and every circuit is closed`;
}

function checkCircuit({ settings: { id }, circuit }: RelayChannel): readonly Verdict[] {
  const state = circuit.state();
  if (state === 'closed') return [];
  const what =
    state === 'open'
      ? 'gets no calls, because it failed for several accounts, or for a call of our own'
      : 'is being tried again';
  return [
    {
      grade: state === 'open' ? 'fail' : 'warn',
      detail: `relay channel ${id} ${what}`,
      advice: `check api_key and base_url of channel ${id}, and the upstream's status; it closes by itself`,
    },
  ];
}

/**
 * Calls a channel and returns its fault, or undefined if it has none. An upstream without a list of models answers 404,
 * which is no fault.
 */
async function checkChannel(channel: RelayChannel, signal: AbortSignal): Promise<Verdict | undefined> {
  const { id } = channel.settings;
  try {
    const status = await callModels(channel, signal);
    if (REFUSED_KEY.has(status))
      return {
        grade: 'fail',
        detail: `relay channel ${id}: the upstream refuses its key (${status})`,
        advice: `set api_key and auth of channel ${id}`,
      };
    return status < FAULT
      ? undefined
      : {
          grade: 'warn',
          detail: `relay channel ${id}: the upstream answers ${status}`,
          advice: `look at the upstream's status; if it works, check base_url of channel ${id}`,
        };
  } catch (error) {
    return {
      grade: 'fail',
      detail: `relay channel ${id}: the upstream is not reached (${signal.aborted ? 'no answer in time' : describeFailure(error)})`,
      advice: `check base_url of channel ${id}, and the network to it`,
    };
  }
}

/** Makes the call of the check for the circuit of the channel. */
export async function probeRelayChannel(channel: RelayChannel, signal: AbortSignal): Promise<ProbeVerdict> {
  return judgeProbe(await callModels(channel, signal));
}

async function callModels(channel: RelayChannel, signal: AbortSignal): Promise<number> {
  const { pool, credential, settings } = channel;
  const { statusCode, body } = await pool.request({
    method: 'GET',
    path: channel.toUpstreamPath(settings.auth === 'x-goog-api-key' ? GOOGLE_MODELS : MODELS),
    headers: { accept: 'application/json', [credential.name]: credential.value },
    signal,
  });
  body.on('error', () => undefined).destroy();
  return statusCode;
}

/** The message of the error would name the host. */
function describeFailure(error: unknown): string {
  if (typeof error === 'object' && error !== null && 'code' in error && typeof error.code === 'string')
    return error.code;
  return 'the connection failed';
}
