import type { Client } from '@reelgate/platform/rpc/service';
import { reasonOf } from '@reelgate/platform/lifecycle/when-reachable';
import type { ChannelPause } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelStatus, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { isoTime } from '../format/times.ts';
import type { DoctorLine } from './doctor-line.ts';

/** The tasks service ends a test itself after 20 s. */
const TEST_MS_MAX = 25_000;
/** Tests that run at one time. */
const CHANNELS_MAX = 64;

type Tasks = Pick<Client<typeof OperatorService>, 'listChannels' | 'testChannel'>;

/** Tests each enabled channel by a call that costs nothing, and says what its circuit breaker knows. */
export async function askChannels(tasks: Tasks, signal: AbortSignal): Promise<readonly DoctorLine[]> {
  const { channels } = await tasks.listChannels({}, { signal });
  const enabled = channels.filter((channel) => channel.enabled);
  if (enabled.length === 0)
    return [
      {
        subject: 'channels',
        part: '',
        grade: 'warn',
        detail: 'no channel for tasks is enabled',
        advice: 'add one under channels, or set enabled: true',
      },
    ];
  const asked = enabled.slice(0, CHANNELS_MAX);
  const lines = await Promise.all(asked.map((channel) => askChannel(tasks, channel, signal)));
  const rest = enabled.length - asked.length;
  return rest === 0
    ? lines.flat()
    : [
        ...lines.flat(),
        {
          subject: 'channels',
          part: '',
          grade: 'warn',
          detail: `${String(rest)} more channels were not tested`,
          advice: 'reelgate channel list; reelgate channel test ID',
        },
      ];
}

async function askChannel(
  tasks: Tasks,
  { id, circuit, pause }: ChannelStatus,
  signal: AbortSignal,
): Promise<readonly DoctorLine[]> {
  const subject = `channel ${id}`;
  const tested = await testOf(tasks, id, signal);
  const state: DoctorLine =
    circuit === 'closed'
      ? { subject, part: 'circuit', grade: 'ok', detail: 'closed', advice: '' }
      : {
          subject,
          part: 'circuit',
          grade: circuit === 'open' ? 'fail' : 'warn',
          detail:
            circuit === 'open'
              ? 'open: the channel failed several times in a row and gets no creates'
              : 'half open: one create tries whether the channel works again',
          advice: 'it closes by itself when the upstream works again; reelgate task list --state failed',
        };
  return pause === undefined ? [tested, state] : [tested, state, pausedLine(subject, id, pause)];
}

function pausedLine(subject: string, id: string, { at, actor, reason }: ChannelPause): DoctorLine {
  return {
    subject,
    part: 'pause',
    grade: 'warn',
    detail: `${actor} paused it at ${isoTime(at) ?? ''}: ${reason}`,
    advice: `reelgate channel resume ${id}`,
  };
}

async function testOf(tasks: Tasks, id: string, signal: AbortSignal): Promise<DoctorLine> {
  const line = { subject: `channel ${id}`, part: 'test' };
  try {
    const { ok, detail, tookMs } = await tasks.testChannel({ id }, { timeoutMs: TEST_MS_MAX, signal });
    return ok
      ? { ...line, grade: 'ok', detail: `${detail}, in ${String(tookMs)} ms`, advice: '' }
      : {
          ...line,
          grade: 'fail',
          detail,
          advice: `check api_key and base_url of channel ${id}, and the upstream's status; reelgate channel test ${id}`,
        };
  } catch (error) {
    return { ...line, grade: 'fail', detail: reasonOf(error), advice: `reelgate channel test ${id}` };
  }
}
