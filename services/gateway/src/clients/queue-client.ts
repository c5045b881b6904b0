import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { QueueClass as WireClass } from '@reelgate/proto/tasks/v1/queue';
import { QueueReason } from '@reelgate/proto/tasks/v1/queue_service';
import type {
  CancelQueuedResponse,
  QueueAccount as WireAccount,
  QueueChannel,
  QueueLane as WireLane,
} from '@reelgate/proto/tasks/v1/queue_service';
import type {
  QueuedPlace,
  WaitingAccount,
  WaitingChange,
  WaitingChangeRequest,
  WaitingChangeAnswer,
  WaitingLane,
  WaitingWork,
} from '../domain/waiting-work.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { KIND_WORDS } from './plain-task.ts';
import { WAIT_CLASSES } from './task-queue.ts';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** A call can end a thousand tasks, one after the other. */
const CANCEL_DEADLINE_MS = 30_000;

const REASONS = deriveWords(QueueReason);

/** A change of the queue by an operator. */
export interface QueueAct extends WaitingChangeRequest {
  readonly actor: string;
}

/** The tasks that wait for a channel. */
export interface WaitingTasks {
  list(caller: Caller): Promise<WaitingWork>;
  /** Refused for a task that does not wait. */
  show(taskId: string, caller: Caller): Promise<QueuedPlace>;
  change(change: WaitingChange, act: QueueAct, caller: Caller): Promise<WaitingChangeAnswer>;
}

export function waitingTasks({ queue }: OperatorClients): WaitingTasks {
  const changes: Readonly<
    Record<WaitingChange, (act: QueueAct, caller: Caller) => Promise<object | CancelQueuedResponse>>
  > = {
    weight: ({ accountId = '', weight = 0, actor, reason }, caller) =>
      queue.setQueueWeight({ accountId, weight, actor, reason }, withDeadline(caller)),
    hold: ({ accountId = '', model = '', actor, reason }, caller) =>
      queue.holdQueue({ accountId, model, actor, reason }, withDeadline(caller)),
    release: ({ accountId = '', model = '', actor, reason }, caller) =>
      queue.releaseQueue({ accountId, model, actor, reason }, withDeadline(caller)),
    cancel: ({ accountId = '', actor, reason }, caller) =>
      queue.cancelQueued({ accountId, actor, reason }, withDeadline(caller, CANCEL_DEADLINE_MS)),
  };
  return {
    list: async (caller) => {
      const { lanes, accounts, hasMore, total, totalLimit } = await queue.listQueue({}, withDeadline(caller));
      return {
        lanes: lanes.map(fromWireLane),
        accounts: accounts.map(fromWireAccount),
        hasMore,
        total: Number(total),
        totalMax: Number(totalLimit),
      };
    },
    show: async (taskId, caller) => {
      const { place, reason } = await queue.showQueuedTask({ taskId }, withDeadline(caller));
      return {
        position: place?.position ?? 0,
        class: WAIT_CLASSES[place?.class ?? WireClass.UNSPECIFIED],
        reason: REASONS[reason],
        startBy: toMs(place?.startBy) ?? 0,
        estimatedStartAt: toMs(place?.estimatedStartAt),
      };
    },
    change: async (change, act, caller) => {
      const answer = await changes[change](act, caller);
      return 'cancelled' in answer ? { cancelled: answer.cancelled, hasMore: answer.hasMore } : {};
    },
  };
}

function fromWireShared(shared: WireLane | WireAccount) {
  const { kind, class: ofClass, model, waiting, oldestSince, held, reason } = shared;
  return {
    model,
    kind: KIND_WORDS[kind],
    class: WAIT_CLASSES[ofClass],
    reason: REASONS[reason],
    waiting: Number(waiting),
    oldestAt: toMs(oldestSince) ?? 0,
    isHeld: held,
  };
}

function fromWireLane(lane: WireLane): WaitingLane {
  const { turnsPerMinute, channels } = lane;
  return { ...fromWireShared(lane), turnsPerMinute, channels: channels.map(fromWireChannel) } satisfies MessageMapping<
    WireLane,
    'oldestSince' | 'held'
  >;
}

function fromWireChannel({ id, inFlight, inFlightLimit }: QueueChannel): WaitingLane['channels'][number] {
  return { id, inFlight: Number(inFlight), inFlightMax: Number(inFlightLimit) } satisfies MessageMapping<
    QueueChannel,
    'inFlightLimit'
  >;
}

function fromWireAccount(account: WireAccount): WaitingAccount {
  const { accountId, weight, share } = account;
  return { ...fromWireShared(account), accountId, weight, share } satisfies MessageMapping<
    WireAccount,
    'oldestSince' | 'held'
  >;
}
