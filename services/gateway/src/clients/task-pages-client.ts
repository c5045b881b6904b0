import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import type { WholeMessage } from '@reelgate/platform/rpc/service';
import { TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { ListTasksRequestSchema } from '@reelgate/proto/tasks/v1/task_service';
import { TimelineStep } from '@reelgate/proto/tasks/v1/timeline';
import type { TimelineEntry } from '@reelgate/proto/tasks/v1/timeline';
import { withDeadline } from './caller.ts';
import type { AccountCaller } from './caller.ts';
import { WIRE_KINDS, WIRE_TASK_STATES, toPlainTask } from './plain-task.ts';
import type { PlainKind, PlainState, PlainTask } from './plain-task.ts';
import type { TasksClient } from './tasks-client.ts';
import { toMs, emptyToUndefined } from './wire-values.ts';

const DEADLINE_MS = 15_000;

/** The filter of a list of an account's tasks, newest first. An undefined field selects all. */
export interface TaskQuestion {
  readonly limit: number;
  readonly model?: string | undefined;
  readonly token?: string | undefined;
  readonly label?: string | undefined;
  readonly states?: readonly PlainState[] | undefined;
  readonly kind?: PlainKind | undefined;
  /** Milliseconds since 1970. */
  readonly from?: number | undefined;
  /** Exclusive. */
  readonly to?: number | undefined;
  readonly after?: string | undefined;
  readonly taskIds?: readonly string[] | undefined;
  readonly idempotencyKey?: string | undefined;
  /** Words of the prompt. The last one may be unfinished. */
  readonly words?: string | undefined;
  /** The highest number to count, undefined to count none. */
  readonly countMax?: number | undefined;
}

export interface FoundTasks {
  readonly tasks: readonly PlainTask[];
  /** The last task that was examined, if older ones remain. */
  readonly continueAfter: string | undefined;
  /** The number of matching tasks, undefined if they were not counted. */
  readonly counted: CountedTasks | undefined;
}

export interface CountedTasks {
  readonly count: number;
  /** False if there may be more. */
  readonly isWhole: boolean;
}

export type StepName = EnumWord<typeof TimelineStep>;

export interface TaskStep {
  readonly step: StepName;
  readonly from: number;
  /** The end of the step, undefined while it lasts. */
  readonly to: number | undefined;
}

export interface TaskTimeline {
  readonly steps: readonly TaskStep[];
  readonly tokenId: string;
  readonly requestId: string | undefined;
}

/** Tasks as pages read them. */
export interface TaskPages {
  /** Examines a bounded number of tasks, so the answer can end early. */
  list(caller: AccountCaller, question: TaskQuestion): Promise<FoundTasks>;
  timeline(caller: AccountCaller, taskId: string): Promise<TaskTimeline>;
}

const STEPS = deriveWords(TimelineStep);

export function taskPages(rpc: TasksClient): TaskPages {
  return {
    list: async ({ accountId, ...call }, question) => {
      const { tasks, continueAfter, counted, countedAll } = await rpc.listTasks(
        toWireQuestion(accountId, question),
        withDeadline(call, DEADLINE_MS),
      );
      return {
        tasks: tasks.map(toPlainTask),
        continueAfter: emptyToUndefined(continueAfter),
        counted: question.countMax === undefined ? undefined : { count: counted, isWhole: countedAll },
      };
    },
    timeline: async ({ accountId, ...call }, taskId) => {
      const { entries, tokenId, requestId } = await rpc.getTaskTimeline(
        { accountId, taskId },
        withDeadline(call, DEADLINE_MS),
      );
      return { steps: entries.flatMap(fromWireStep), tokenId, requestId: emptyToUndefined(requestId) };
    },
  };
}

function toWireQuestion(accountId: string, question: TaskQuestion): WholeMessage<typeof ListTasksRequestSchema> {
  const { limit, states = [], kind, model = '', from, to, after = '', taskIds = [], idempotencyKey = '' } = question;
  const { words = '', token: tokenId = '', label = '', countMax = 0 } = question;
  return {
    ...{ words, tokenId, label, countMax },
    ...{ accountId, limit, model, after, idempotencyKey, inSteps: true },
    // older pages continue after a task, and are not counted
    ...{ ascending: false, offset: 0, withTotal: false },
    states: states.map((state) => WIRE_TASK_STATES[state]),
    taskIds: [...taskIds],
    kind: kind === undefined ? TaskKind.UNSPECIFIED : WIRE_KINDS[kind],
    ...(from === undefined ? {} : { createdFrom: timestampFromMs(from) }),
    ...(to === undefined ? {} : { createdBefore: timestampFromMs(to) }),
  };
}

/** A step that this version does not know is left out. */
function fromWireStep({ step, from, to }: TimelineEntry): TaskStep[] {
  const [name, at] = [STEPS[step], toMs(from)];
  return name === undefined || at === undefined ? [] : [{ step: name, from: at, to: toMs(to) }];
}
