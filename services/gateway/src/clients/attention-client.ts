import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { Charge } from '@reelgate/proto/billing/v1/hold';
import { Resolution as WireResolution } from '@reelgate/proto/tasks/v1/operator_service';
import type { AttentionItem } from '@reelgate/proto/tasks/v1/operator_service';
import type { Resolution } from '../domain/operator-records.ts';
import { withDeadline } from './caller.ts';
import type { Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toPlainState } from './plain-task.ts';
import type { PlainState } from './plain-task.ts';
import { toMs } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

/** Every page shows the number, and none waits for it. */
const COUNT_DEADLINE_MS = 1000;
/** Of one call to billing. */
const CHARGES_MAX = 100;

/** The money of a task or a job that waits for a decision, in billionths. */
export interface OpenMoney {
  readonly heldNanos: bigint;
  readonly currency: string;
  /** `deferred`: its usage was far above the hold, so it was not charged. */
  readonly settled: 'not' | 'deferred' | 'charged' | 'released';
  /** The charged amount; zero until it is settled. */
  readonly chargedNanos: bigint;
  /** The cost of the usage of a deferred settlement; undefined if it is unknown or too large for an amount. */
  readonly usageNanos: bigint | undefined;
}

/** The part of an item that determines the decisions over it. */
export interface ItemState {
  readonly isJob: boolean;
  readonly state: PlainState;
}

/** A task or a job that waits for a decision. */
export interface WaitingItem extends ItemState {
  readonly id: string;
  readonly since: number;
  readonly reason: string;
  readonly detail: string;
  readonly accountId: string;
  readonly model: string;
  readonly channel: string;
}

export interface AttentionQueue {
  /** The oldest first. */
  list(caller: Caller): Promise<readonly WaitingItem[]>;
  /** The number of entries; it does not grow beyond 1000. */
  count(caller: Caller): Promise<number>;
  /** By task or job; one without a hold is left out. */
  money(ids: readonly string[], caller: Caller): Promise<ReadonlyMap<string, OpenMoney>>;
  decide(
    decision: {
      readonly id: string;
      readonly resolution: Resolution;
      readonly actor: string;
      readonly reason: string;
    },
    caller: Caller,
  ): Promise<void>;
}

const RESOLUTIONS = deriveValues(WireResolution);

export function attentionQueue({ tasks, billing }: OperatorClients): AttentionQueue {
  return {
    list: async (caller) => (await tasks.listAttention({}, withDeadline(caller))).items.map(fromWireItem),
    count: async (caller) => Number((await tasks.countAttention({}, withDeadline(caller, COUNT_DEADLINE_MS))).waiting),
    money: async (ids, caller) => {
      const answers = await Promise.all(
        splitIntoPieces(ids, CHARGES_MAX).map((taskIds) => billing.listCharges({ taskIds }, withDeadline(caller))),
      );
      const charges = answers.flatMap((answer) => answer.charges);
      return new Map(charges.map((charge) => [charge.taskId, fromWireCharge(charge)]));
    },
    decide: async ({ id, resolution, actor, reason }, caller) => {
      await tasks.resolveAttention(
        { taskId: id, resolution: RESOLUTIONS[resolution], actor, reason },
        withDeadline(caller),
      );
    },
  };
}

function fromWireItem({
  taskId,
  since,
  reason,
  detail,
  accountId,
  model,
  channel,
  state,
  isJob,
}: AttentionItem): WaitingItem {
  return {
    id: taskId,
    isJob,
    since: toMs(since) ?? 0,
    reason,
    detail,
    accountId,
    model,
    channel,
    state: toPlainState(state, 'in_progress'),
  } satisfies MessageMapping<AttentionItem, 'taskId'>;
}

const SETTLED: Readonly<Record<Basis, OpenMoney['settled']>> = {
  [Basis.UNSPECIFIED]: 'not',
  [Basis.USAGE]: 'charged',
  [Basis.ESTIMATE]: 'charged',
  [Basis.HOLD]: 'charged',
  [Basis.RELEASED]: 'released',
  [Basis.DEFERRED]: 'deferred',
};

function fromWireCharge({ heldNanos, currency, basis, chargedNanos = 0n, deferredNanos }: Charge): OpenMoney {
  return { heldNanos, currency, chargedNanos, usageNanos: deferredNanos, settled: SETTLED[basis] };
}

function splitIntoPieces<T>(list: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(list.length / size) }, (_, at) => list.slice(at * size, (at + 1) * size));
}
