import type { Client } from '@reelgate/platform/rpc/service';
import { describeError } from '@reelgate/platform/lifecycle/when-reachable';
import type { ChannelPause } from '@reelgate/proto/tasks/v1/channel_pause';
import type { ChannelStatus, OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { isoTime } from '../format/times.ts';
import { awaitAnswer, inSeconds } from './deadline.ts';
import type { Deadline } from './deadline.ts';
import type { DoctorLine, Report } from './doctor-line.ts';

/** The maximum number of concurrent tests. */
const CHANNELS_MAX = 64;

type Tasks = Client<typeof OperatorService>;

/**
 * Tests each enabled channel by a call that is free of charge, and reports the state of its circuit breaker. The lines
 * of a channel are printed as its test ends.
 */
export async function askChannels(tasks: Tasks, deadline: Deadline, report: Report): Promise<void> {
  const channels = await awaitAnswer(
    deadline,
    async (signal) => (await tasks.listChannels({}, { timeoutMs: deadline.callMs(), signal })).channels,
    () => undefined,
  );
  if (channels === undefined) {
    report(describeUnknown());
    return;
  }
  const enabled = channels.filter((channel) => channel.enabled);
  if (enabled.length === 0)
    report({
      subject: 'channels',
      part: '',
      grade: 'warn',
      detail: 'no channel for tasks is enabled',
      advice: 'add one under channels, or set enabled: true',
    });
  const asked = enabled.slice(0, CHANNELS_MAX);
  await Promise.all(asked.map(async (channel) => report(...(await askChannel(tasks, channel, deadline)))));
  const rest = enabled.length - asked.length;
  if (rest > 0)
    report({
      subject: 'channels',
      part: '',
      grade: 'warn',
      detail: `${rest} more channels were not tested`,
      advice: 'reelgate channel list; reelgate channel test ID',
    });
}

function describeUnknown(): DoctorLine {
  return {
    subject: 'channels',
    part: '',
    grade: 'fail',
    detail: 'tasks did not say which channels there are',
    advice: 'see the line of tasks; then reelgate channel list',
  };
}

async function askChannel(
  tasks: Tasks,
  { id, circuit, pause }: ChannelStatus,
  deadline: Deadline,
): Promise<readonly DoctorLine[]> {
  const subject = `channel ${id}`;
  const tested = await testChannel(tasks, id, deadline);
  const state = describeCircuit(subject, circuit);
  return pause === undefined ? [tested, state] : [tested, state, toPauseLine(subject, id, pause)];
}

function describeCircuit(subject: string, circuit: string): DoctorLine {
  const line = { subject, part: 'circuit' };
  if (circuit === 'closed') return { ...line, grade: 'ok', detail: 'closed', advice: '' };
  const isOpen = circuit === 'open';
  return {
    ...line,
    grade: isOpen ? 'fail' : 'warn',
    detail: isOpen
      ? 'open: the channel failed several times in a row and gets no creates'
      : 'half open: one create tries whether the channel works again',
    advice: 'it closes by itself when the upstream works again; reelgate task list --state failed',
  };
}

function toPauseLine(subject: string, id: string, { at, actor, reason }: ChannelPause): DoctorLine {
  return {
    subject,
    part: 'pause',
    grade: 'warn',
    detail: `${actor} paused it at ${isoTime(at) ?? ''}: ${reason}`,
    advice: `reelgate channel resume ${id}`,
  };
}

function testChannel(tasks: Tasks, id: string, deadline: Deadline): Promise<DoctorLine> {
  const line = { subject: `channel ${id}`, part: 'test' };
  return awaitAnswer<DoctorLine>(
    deadline,
    async (signal) => {
      try {
        const { ok, detail, tookMs } = await tasks.testChannel({ id }, { timeoutMs: deadline.callMs(), signal });
        return ok
          ? { ...line, grade: 'ok', detail: `${detail}, in ${tookMs} ms`, advice: '' }
          : {
              ...line,
              grade: 'fail',
              detail: `${detail}, after ${tookMs} ms`,
              advice: `check api_key and base_url of channel ${id}, and the upstream's status; reelgate channel test ${id}`,
            };
      } catch (error) {
        return { ...line, grade: 'fail', detail: describeError(error), advice: `reelgate channel test ${id}` };
      }
    },
    (waitedMs) => ({
      ...line,
      grade: 'fail',
      detail: `had no result within ${inSeconds(waitedMs)}`,
      advice: `reelgate channel test ${id}`,
    }),
  );
}
