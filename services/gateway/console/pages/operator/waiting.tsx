import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import type {
  WaitingChangeAnswer,
  WaitingAccount,
  WaitingChange,
  WaitingChangeRequest,
  WaitingLane,
  WaitingList,
} from '../../api/operator-waiting.ts';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { ConfirmDialog } from '../../parts/confirm-dialog.tsx';
import { DataTable } from '../../parts/data-table.tsx';
import type { Column } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { TextField } from '../../parts/text-field.tsx';
import { Ago } from '../../parts/time.tsx';
import { announce } from '../../state/announce.ts';
import { useAct } from '../../state/use-act.ts';
import { useCalls } from '../../state/calls.ts';
import { useView } from '../../state/use-view.ts';
import { ActList } from './parts/act-list.tsx';
import { listActs, toActCalls } from './parts/acts.ts';
import type { Act } from './parts/acts.ts';
import { ReasonField } from './parts/reason-field.tsx';
import { operatorWords } from './operator-words.ts';
import { queueWords as words } from './queue-words.ts';

const ACTS_READ = 100;
const ACTS_SHOWN = 10;
const TOPICS = ['now', 'channels'] as const;

/** A change that an operator wants to make, before its reason is given. */
interface WantedChange extends Omit<WaitingChangeRequest, 'reason'> {
  readonly change: WaitingChange;
}

export function page(): VNode {
  const view = useView<WaitingList>('/queue', TOPICS);
  const records = useCalls({}, TOPICS, toActCalls({ limit: ACTS_READ }));
  const acts = listActs(records.data ?? {}, ACTS_SHOWN, 'queue_');
  const onChanged = (): void => {
    view.refresh();
    records.refresh();
  };
  return (
    <>
      <PageTitle title={words.title} />
      <Loaded view={view}>{(list) => <WaitingView list={list} acts={acts} onChanged={onChanged} />}</Loaded>
    </>
  );
}

export interface WaitingViewProps {
  readonly list: WaitingList;
  readonly acts: readonly Act[];
  readonly onChanged: () => void;
}

export function WaitingView({ list, acts, onChanged }: WaitingViewProps): VNode {
  const { lanes, accounts, hasMore, total, totalMax, canOperate } = list;
  const [wanted, setWanted] = useState<WantedChange | undefined>(undefined);
  const ofLane: Column<WaitingLane> = {
    name: words.acts,
    isBare: true,
    cell: ({ model, isHeld }) =>
      model === '' ? null : <Changes of={{ model }} isHeld={isHeld} canOperate={canOperate} onWant={setWanted} />,
  };
  const ofAccount: Column<WaitingAccount> = {
    name: words.acts,
    isBare: true,
    cell: ({ accountId, weight, isHeld }) => (
      <Changes of={{ accountId, weight }} isHeld={isHeld} canOperate={canOperate} onWant={setWanted} />
    ),
  };
  return (
    <>
      <p class="lead">{words.intro(total, totalMax)}</p>
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
        <ChangeDialog
          wanted={wanted}
          onClose={() => {
            setWanted(undefined);
          }}
          onChanged={onChanged}
        />
      )}
    </>
  );
}

interface WaitingProps {
  readonly lanes: readonly WaitingLane[];
  readonly accounts: readonly WaitingAccount[];
  readonly ofLane: Column<WaitingLane>;
  readonly ofAccount: Column<WaitingAccount>;
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
        keyOf={(lane) => JSON.stringify([nameShared(lane), lane.channels.map(({ id }) => id), lane.oldestAt])}
        empty={words.empty}
      />
      <h2>{words.accounts}</h2>
      <DataTable
        caption={words.accounts}
        columns={[...ACCOUNTS, ofAccount]}
        rows={accounts}
        keyOf={(account) => JSON.stringify([account.accountId, nameShared(account), account.oldestAt])}
        empty={words.empty}
      />
    </>
  );
}

type LaneTasks = Pick<WaitingLane, 'model' | 'kind' | 'class' | 'waiting' | 'oldestAt' | 'reason'>;

function nameShared(shared: LaneTasks): string {
  return [shared.model, shared.kind, shared.class].join(' ');
}

const LANE_NAME: readonly Column<LaneTasks>[] = [
  { name: words.model, cell: ({ model }) => (model === '' ? words.scheduled : model) },
  { name: words.kind, cell: ({ kind = '' }) => kind },
  { name: words.class, cell: (shared) => shared.class ?? '' },
  { name: words.waiting, isNumber: true, cell: ({ waiting }) => waiting },
  { name: words.oldest, cell: ({ oldestAt }) => <Ago at={oldestAt} /> },
];
const WHY: Column<LaneTasks> = {
  name: words.why,
  cell: ({ reason }) => (reason === undefined ? '' : words.reasons[reason]),
};
const LANES: readonly Column<WaitingLane>[] = [
  ...LANE_NAME,
  { name: words.turns, isNumber: true, cell: ({ turnsPerMinute }) => turnsPerMinute.toFixed(1) },
  {
    name: words.channels,
    cell: ({ channels }) =>
      channels.map(({ id, inFlight, inFlightMax }) => words.inUse(id, inFlight, inFlightMax)).join(', '),
  },
  WHY,
];
const ACCOUNTS: readonly Column<WaitingAccount>[] = [
  {
    name: words.account,
    isHead: true,
    cell: ({ accountId }) => <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>,
  },
  ...LANE_NAME,
  { name: words.weight, isNumber: true, cell: ({ weight }) => weight },
  { name: words.share, isNumber: true, cell: ({ share }) => `${Math.round(share * 100)} %` },
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
  const hold: WaitingChange = isHeld ? 'release' : 'hold';
  const changes: readonly WaitingChange[] = of.accountId === undefined ? [hold] : ['weight', hold, 'cancel'];
  return (
    <div class="actions">
      {changes.map((change) => (
        <button
          key={change}
          type="button"
          disabled={!canOperate}
          aria-describedby={canOperate ? undefined : 'may-not-operate'}
          onClick={() => {
            onWant({ ...of, change });
          }}
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
  const { change, accountId, model } = wanted;
  const subject = nameSubject(wanted);
  const [reason, setReason] = useState('');
  const [weight, setWeight] = useState(String(wanted.weight ?? 1));
  const { act, isBusy, fault } = useAct<WaitingChangeAnswer>(({ hasMore }) => {
    announce(hasMore === true ? words.moreWait(subject) : words.did[change](subject));
    onChanged();
    onClose();
  });
  const body = { reason: reason.trim(), ...(accountId === undefined ? { model } : { accountId }) };
  return (
    <ConfirmDialog
      title={words.titles[change](subject)}
      confirm={words.changes[change]}
      cancel={operatorWords.dialog.back}
      isBusy={isBusy}
      isDanger={change === 'cancel' || change === 'hold'}
      onCancel={onClose}
      onConfirm={() => {
        act(`/queue/${change}`, change === 'weight' ? { ...body, weight: Number(weight) } : body);
      }}
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
