import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type { RpcAnswer } from '../../api/calls.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { readTime } from '../../parts/contract-values.ts';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Ago } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { sendCall, toCall, useCalls } from '../../state/calls.ts';
import type { RpcCall } from '../../state/calls.ts';
import { useSending } from '../../state/use-act.ts';
import { ActList, listActs, toActCalls } from './parts/act-list.tsx';
import type { Act } from './parts/act-list.tsx';
import { ReasonField } from './parts/reason-field.tsx';
import { useOperator } from './parts/use-operator.ts';
import { operatorWords } from './operator-words.ts';
import { queueWords as words } from './queue-words.ts';
import type { QueueChange } from './queue-words.ts';

const ACTS_READ = 100;
const ACTS_SHOWN = 10;

type Queue = RpcAnswer<'tasks.QueueService/ListQueue'>;

export function page(): VNode {
  const { covers } = useOperator();
  const view = useCalls(
    { queue: toCall('tasks.QueueService/ListQueue', {}) },
    ['now', 'channels'],
    toActCalls({ limit: ACTS_READ }),
  );
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view}>
        {({ queue, ...acts }) => (
          <WaitingView
            queue={queue}
            acts={listActs(acts, ACTS_SHOWN, 'queue_')}
            canOperate={covers('operator')}
            onChanged={view.refresh}
          />
        )}
      </Loaded>
    </>
  );
}

export interface WaitingViewProps {
  readonly queue: Queue;
  readonly acts: readonly Act[];
  readonly canOperate: boolean;
  readonly onChanged: () => void;
}

export function WaitingView({ queue, acts, canOperate, onChanged }: WaitingViewProps): VNode {
  const { lanes, accounts, hasMore, total, totalLimit } = queue;
  const [wanted, setWanted] = useState<WantedChange | undefined>(undefined);
  const ofLane: Column<QueueLane> = {
    name: words.acts,
    isBare: true,
    cell: ({ model, held }) =>
      model === '' ? null : <Changes of={{ model }} isHeld={held} canOperate={canOperate} onWant={setWanted} />,
  };
  const ofAccount: Column<QueueAccount> = {
    name: words.acts,
    isBare: true,
    cell: ({ accountId, weight, held }) => (
      <Changes of={{ accountId, weight }} isHeld={held} canOperate={canOperate} onWant={setWanted} />
    ),
  };
  return (
    <>
      <p class="lead">{words.intro(Number(total), Number(totalLimit))}</p>
      {canOperate ? null : (
        <p class="quiet" id="may-not-operate">
          {operatorWords.needsRole('operator', words.needed)}
        </p>
      )}
      {lanes.length === 0 && accounts.length === 0 ? (
        <EmptyState title={words.empty} text={words.emptyText} />
      ) : (
        <Waiting lanes={lanes} accounts={accounts} ofLane={ofLane} ofAccount={ofAccount} />
      )}
      {hasMore ? <p class="quiet">{words.more}</p> : null}
      <ActList acts={acts} />
      {wanted === undefined ? null : (
        <ChangeDialog wanted={wanted} onClose={() => setWanted(undefined)} onChanged={onChanged} />
      )}
    </>
  );
}

interface WaitingProps {
  readonly lanes: readonly QueueLane[];
  readonly accounts: readonly QueueAccount[];
  readonly ofLane: Column<QueueLane>;
  readonly ofAccount: Column<QueueAccount>;
}

/** Shows what waits, by lane and by account, each with the decisions over it. */
function Waiting({ lanes, accounts, ofLane, ofAccount }: WaitingProps): VNode {
  return (
    <>
      <h2>{words.lanes}</h2>
      <DataTable
        caption={words.lanes}
        columns={[...LANES, ofLane]}
        rows={lanes}
        keyOf={(lane) => JSON.stringify([nameShared(lane), lane.channels.map(({ id }) => id), lane.oldestSince])}
        empty={words.empty}
      />
      <h2>{words.accounts}</h2>
      <DataTable
        caption={words.accounts}
        columns={[...ACCOUNTS, ofAccount]}
        rows={accounts}
        keyOf={(account) => JSON.stringify([account.accountId, nameShared(account), account.oldestSince])}
        empty={words.empty}
      />
    </>
  );
}

type LaneTasks = Pick<QueueLane, 'model' | 'kind' | 'class' | 'waiting' | 'oldestSince' | 'reason'>;

function nameShared(shared: LaneTasks): string {
  return [shared.model, shared.kind, shared.class].join(' ');
}

const LANE_NAME: readonly Column<LaneTasks>[] = [
  { name: words.model, cell: ({ model }) => (model === '' ? words.scheduled : model) },
  { name: words.kind, cell: ({ kind }) => words.kinds[kind] },
  { name: words.class, cell: (shared) => words.classes[shared.class] },
  { name: words.waiting, isNumber: true, cell: ({ waiting }) => waiting },
  { name: words.oldest, cell: ({ oldestSince }) => <Ago at={readTime(oldestSince) ?? 0} /> },
];
const WHY: Column<LaneTasks> = {
  name: words.why,
  cell: ({ reason }) => words.reasons[reason],
};
const LANES: readonly Column<QueueLane>[] = [
  ...LANE_NAME,
  { name: words.turns, isNumber: true, cell: ({ startsPerMinute }) => Number(startsPerMinute).toFixed(1) },
  {
    name: words.channels,
    cell: ({ channels }) =>
      channels.map(({ id, inFlight, inFlightLimit }) => words.inUse(id, inFlight, inFlightLimit)).join(', '),
  },
  WHY,
];
const ACCOUNTS: readonly Column<QueueAccount>[] = [
  {
    name: words.account,
    isHead: true,
    cell: ({ accountId }) => <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>,
  },
  ...LANE_NAME,
  { name: words.weight, isNumber: true, cell: ({ weight }) => weight },
  { name: words.share, isNumber: true, cell: ({ share }) => `${Math.round(Number(share) * 100)} %` },
  WHY,
];

interface ChangesProps {
  /** An account with its weight, or a model. */
  readonly of: Omit<WantedChange, 'change'>;
  readonly isHeld: boolean;
  readonly canOperate: boolean;
  readonly onWant: (wanted: WantedChange) => void;
}

function Changes({ of, isHeld, canOperate, onWant }: ChangesProps): VNode {
  const hold: QueueChange = isHeld ? 'release' : 'hold';
  const changes: readonly QueueChange[] = of.accountId === undefined ? [hold] : ['weight', hold, 'cancel'];
  return (
    <div class="actions">
      {changes.map((change) => (
        <button
          key={change}
          type="button"
          disabled={!canOperate}
          aria-describedby={canOperate ? undefined : 'may-not-operate'}
          onClick={() => onWant({ ...of, change })}
        >
          {words.changes[change]}
          <span class="spoken"> {nameSubject(of)}</span>
        </button>
      ))}
    </div>
  );
}

function nameSubject({ accountId, model = '' }: ChangesProps['of']): string {
  return accountId ?? model;
}

interface ChangeDialogProps {
  readonly wanted: WantedChange;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

function ChangeDialog({ wanted, onClose, onChanged }: ChangeDialogProps): VNode {
  const { change } = wanted;
  const subject = nameSubject(wanted);
  const [reason, setReason] = useState('');
  const [weight, setWeight] = useState(String(wanted.weight ?? 1));
  const { act, isBusy, fault } = useSending(
    () => sendCall(toChangeCall({ ...wanted, weight: Number(weight) }, reason.trim())),
    (answer) => {
      announce('hasMore' in answer && answer.hasMore === true ? words.moreWait(subject) : words.did[change](subject));
      onChanged();
      onClose();
    },
  );
  return (
    <ConfirmDialog
      title={words.titles[change](subject)}
      confirm={words.changes[change]}
      cancel={operatorWords.dialog.back}
      isBusy={isBusy}
      isDanger={change === 'cancel' || change === 'hold'}
      onCancel={onClose}
      onConfirm={act}
    >
      <p>{words.texts[change]}</p>
      {change === 'weight' ? (
        <TextField
          label={words.weight}
          type="number"
          min={1}
          max={1000}
          hint={words.weightHint}
          value={weight}
          onInput={setWeight}
        />
      ) : null}
      <ReasonField value={reason} onInput={setReason} fault={fault?.message} />
    </ConfirmDialog>
  );
}

/** Tasks that the same channels can do. */
export type QueueLane = Queue['lanes'][number];

type QueueAccount = Queue['accounts'][number];

/** A change that an operator wants to make. A hold and a release can name a model instead of an account. */
export interface WantedChange {
  readonly change: QueueChange;
  readonly accountId?: string;
  readonly model?: string;
  readonly weight?: number;
}

/** The call that carries out a change. The answer to a cancel has `hasMore`. */
export function toChangeCall(
  { change, accountId = '', model = '', weight = 0 }: WantedChange,
  reason: string,
): RpcCall<object> {
  switch (change) {
    case 'weight':
      return toCall('tasks.QueueService/SetQueueWeight', { accountId, weight, reason });
    case 'hold':
      return toCall('tasks.QueueService/HoldQueue', { accountId, model, reason });
    case 'release':
      return toCall('tasks.QueueService/ReleaseQueue', { accountId, model, reason });
    case 'cancel':
      return toCall('tasks.QueueService/CancelQueued', { accountId, reason });
  }
}
