import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import type { WatchTasksResponse } from '@reelgate/proto/tasks/v1/task_service';
import { fromBinary, toBinary } from '@bufbuild/protobuf';
import { inRequest } from '@reelgate/platform/request-context';
import type { SeenTask } from './dialects.ts';
import { readRefusal, readWireTask } from './rpc-calls.ts';
import { RICH } from './simulated-config.ts';
import { LostAnswer } from './simulated-http.ts';
import type { World } from './world.ts';

/** The name under which a run can do without it. */
export const WATCH = 'watch';
const WATCHED = 0.7;
const CONNECTED_MS = { least: 1000, most: 60_000 };
const RECONNECT_MS = { least: 100, most: 4000 };
/** More connections than a run has time for. */
const CONNECTIONS_MAX = 2000;
/** A change reaches a watch within this time, also if its announcement was lost. */
const HEARD_MS_MAX = 15_000;
/** The least time that the answer of a call takes, so that no message comes after the end of its stream. */
const MESSAGE_MS = 1;
const REPEATED: ReadonlySet<string> = new Set(['unavailable', 'exhausted']);

/** A team that watches the tasks of its account. */
export interface RunningWatch {
  /** A read of the team has shown the end of a task, which it has ordered at this time. */
  ended(task: SeenTask, orderedAt: number): void;
  /** Waits for what has happened, and ends. */
  finish(): Promise<void>;
}

/** What a watch has told, over all its connections. */
interface Heard {
  /** The cursor of the last message. */
  cursor: string;
  /** The time of the first message. Every change after it must come. */
  since: number;
  /** The tasks that were told with a final state, each with the state. */
  readonly ends: Set<string>;
}

/** In most seeds, a team watches all tasks of its account. Its connections end, and the next one goes on at its cursor. */
export function startWatch(world: World): RunningWatch {
  const { draws, faults, rules, scheduler, acts } = world;
  if (faults.isLeftOut(WATCH) || !draws.happens(WATCH, WATCHED))
    return { ended: () => undefined, finish: async () => undefined };
  const heard: Heard = { cursor: '', since: Infinity, ends: new Set() };
  const due: { readonly end: string; readonly seenAt: number }[] = [];
  let isOver = false;
  const running = stayConnected(world, heard, () => isOver);
  return {
    ended: ({ id, status }, orderedAt) => {
      if (orderedAt > heard.since) due.push({ end: `${id} ${status}`, seenAt: scheduler.now() });
    },
    finish: async () => {
      await scheduler.pause(HEARD_MS_MAX);
      isOver = true;
      await running;
      if (due.some(({ end }) => heard.ends.has(end))) acts.note('a watch tells the end of a task');
      // an end that a restore has taken back may come again as another one
      const missed = due.flatMap(({ end, seenAt }) => (heard.ends.has(end) || rules.isForgotten(seenAt) ? [] : [end]));
      // the cursor is a time, and covers clocks that differ by a minute
      if (missed.length > 0 && !faults.listOn().includes('clock jump'))
        rules.break('a watch leaves no change out', missed.join('; '));
    },
  };
}

async function stayConnected(world: World, heard: Heard, isOver: () => boolean): Promise<void> {
  const { draws, scheduler } = world;
  for (let connection = 1; connection <= CONNECTIONS_MAX && !isOver(); connection += 1) {
    const name = `${WATCH} ${connection}`;
    await watchUntilEnd(world, name, heard);
    await scheduler.pause(draws.whole(`${name} again`, RECONNECT_MS.least, RECONNECT_MS.most));
  }
}

/** Hears of tasks until the stream ends. */
async function watchUntilEnd(world: World, name: string, heard: Heard): Promise<void> {
  const { machine, draws, rules, events, scheduler } = world;
  const note = (text: string): void => {
    events.write(scheduler.now(), 'client', `${name}: ${text}`);
  };
  const openedAt = scheduler.now();
  const take = ({ task, cursor }: WatchTasksResponse): void => {
    heard.since = Math.min(heard.since, scheduler.now());
    heard.cursor = cursor;
    if (task === undefined) return;
    const seen = readWireTask(task);
    note(`${seen.id} is ${seen.status}`);
    rules.read('grpc', seen, openedAt);
    if (seen.status === 'completed' || seen.status === 'failed') heard.ends.add(`${seen.id} ${seen.status}`);
  };
  const { output } = TaskService.method.watchTasks;
  const left = new AbortController();
  const leaveAfterMs = draws.whole(`${name} leave`, CONNECTED_MS.least, CONNECTED_MS.most);
  try {
    await machine.call(async ({ tasks }) => {
      scheduler.after(leaveAfterMs, scheduler.current(), () => {
        left.abort();
      });
      const request = { accountId: RICH.id, cursor: heard.cursor };
      await inRequest(WATCH, async () => {
        for await (const message of tasks.watchTasks(request, { signal: left.signal, requestId: WATCH })) {
          const bytes = toBinary(output, message);
          scheduler.after(MESSAGE_MS, scheduler.world, () => {
            take(fromBinary(output, bytes));
          });
        }
      });
    }, WATCH);
    note('ends');
  } catch (error) {
    note(`ends: ${String(error)}`);
    if (error instanceof LostAnswer || left.signal.aborted) return;
    const { kind, reason, message } = readRefusal(error);
    if (!REPEATED.has(kind)) rules.break('a watch goes on where it ended', `${heard.cursor}: ${reason} ${message}`);
  }
}
