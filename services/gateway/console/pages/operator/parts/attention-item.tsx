import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { TaskMoney } from '../../../api/money.ts';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import { useRefreshWhile } from '../../../state/use-due-reads.ts';
import { toCall, useCalls } from '../../../state/calls.ts';
import { useView } from '../../../state/use-view.ts';
import type { View } from '../../../state/use-view.ts';
import { requireValue, readTime } from '../../../parts/contract-values.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Facts } from '../../../parts/data-table.tsx';
import { Loaded } from '../../../parts/loaded.tsx';
import { loadLater } from '../../../parts/load-later.tsx';
import { formatMoney } from '../../../parts/number-text.tsx';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { Ago, clockText } from '../../../parts/time.tsx';
import { attentionWords } from '../attention-words.ts';
import type { DecidedMoney, MadeDecision, Resolution } from './attention-rows.ts';
import { DecisionForm } from './decision-form.tsx';
import { readJob } from './job-facts.ts';
import type { QueueEntry } from './use-desk.ts';
import { reasonText } from './queue-list.tsx';
import { readDetail } from './act-list.tsx';
import type { Act, ActWord } from './act-list.tsx';
import { outcomeText } from './consequence.ts';

const words = attentionWords.attention;
/** A decision is the last act over its entry, or one of the last few. */
const ACTS_READ = 20;
/** The evidence of an entry is read from the server anyway, and its files are as many as those of the queue. */
const TaskEvidence = loadLater(async () => (await import('./evidence.tsx')).TaskEvidence);
const JobEvidence = loadLater(async () => (await import('./evidence.tsx')).JobEvidence);
const DECISION: ActWord = 'attention_resolved';

export interface AttentionItemProps {
  readonly entry: QueueEntry;
  readonly canDecide: boolean;
  readonly you: string;
  /** The visitor's decision over it on this page; undefined without one. */
  readonly made: MadeDecision | undefined;
  readonly onDecided: (id: string, answer: MadeDecision) => void;
  /** The queue has changed in a way that the page does not know. */
  readonly onChanged: () => void;
  readonly onNext: () => void;
}

/** An entry of the queue: what was ordered, what is known, and what each decision does. */
export function AttentionItem(props: AttentionItemProps): VNode {
  return props.entry.row.isJob ? <JobItem {...props} /> : <TaskItem {...props} />;
}

function TaskItem(props: AttentionItemProps): VNode {
  const { entry, made } = props;
  const { row } = entry;
  const view = useView<OperatorTaskView>(`/tasks/${encodeURIComponent(row.id)}`, [`task:${row.id}`]);
  const money = toBookedMoney(view.data?.money) ?? made?.money;
  // the money of a task that just ended follows its end
  useRefreshWhile(made !== undefined && made.resolution !== 'retry' && money?.charged === undefined, view.refresh);
  return (
    <Item {...props} view={view} money={money}>
      {(task) => <TaskEvidence view={task} row={row} />}
    </Item>
  );
}

function JobItem(props: AttentionItemProps): VNode {
  const view = useCalls({ shown: toCall('tasks.OperatorService/ShowJob', { jobId: props.entry.row.id }) });
  return (
    <Item {...props} view={view} money={props.made?.money}>
      {({ shown }) => <JobEvidence job={readJob(requireValue(shown.record))} />}
    </Item>
  );
}

function toBookedMoney(money: TaskMoney | undefined): DecidedMoney | undefined {
  if (money?.charged === undefined) return undefined;
  const { held, charged, returned } = money;
  return { held, charged, ...(returned === undefined ? {} : { released: returned }) };
}

interface ItemProps<T> extends AttentionItemProps {
  readonly view: View<T>;
  readonly money: DecidedMoney | undefined;
  readonly children: (data: T) => VNode;
}

function Item<T>({ entry, view, money, children, ...props }: ItemProps<T>): VNode {
  const { row } = entry;
  const decisions = useCalls({
    list: toCall('tasks.OperatorService/ListActs', { subject: row.id, limit: ACTS_READ }),
  });
  const { canDecide, you, made, onDecided, onChanged, onNext } = props;
  const isDecided = entry.isDecided || made !== undefined;
  const heading = useRef<HTMLHeadingElement>(null);
  const { refresh } = view;
  const { refresh: readDecisions } = decisions;
  useEffect(() => {
    if (!isDecided) return;
    refresh();
    readDecisions();
    // the form that had the focus is gone
    if (document.activeElement === document.body) heading.current?.focus();
  }, [isDecided, refresh, readDecisions]);
  const href = `/console/${row.isJob ? 'jobs' : 'tasks'}/${encodeURIComponent(row.id)}`;
  return (
    <>
      <div class="item-head">
        <h2 ref={heading} tabindex={-1}>
          {reasonText(row.reason)}
        </h2>
        <button type="button" class={isDecided ? 'main' : 'quiet'} onClick={onNext}>
          {words.next}
        </button>
      </div>
      <p>
        <span class="id">{row.id}</span> <CopyButton text={row.id} what={row.id} />{' '}
        <a href={href}>{row.isJob ? words.openJob : words.openTask}</a>
      </p>
      {isDecided ? (
        <DecidedNote row={row} you={you} made={made} acts={decisions.data?.list.acts} money={money} />
      ) : null}
      {isDecided ? null : <p>{row.detail}</p>}
      <RowFacts row={row} isDecided={isDecided} />
      <Loaded view={view}>{children}</Loaded>
      {isDecided ? null : (
        <>
          <h3>{words.decision}</h3>
          <DecisionForm row={row} canDecide={canDecide} onDecided={onDecided} onChanged={onChanged} />
        </>
      )}
    </>
  );
}

/** An entry that waits shows the amount that is held. After a decision, what became of it is told above. */
function RowFacts({ row, isDecided }: QueueEntry): VNode {
  return (
    <Facts
      facts={[
        [words.since, <Ago at={row.since} />],
        [words.state, <StateBadge state={row.state} />],
        [words.account, <a href={`/console/accounts/${encodeURIComponent(row.accountId)}`}>{row.accountId}</a>],
        ...(isDecided
          ? []
          : [[words.heldNow, row.held === undefined ? words.moneyUnknown : formatMoney(row.held)] as const]),
      ]}
    />
  );
}

interface DecidedNoteProps {
  readonly row: QueueEntry['row'];
  readonly you: string;
  /** The visitor's decision on this page; undefined without one. */
  readonly made: MadeDecision | undefined;
  /** The acts of operators on it, the newest first; undefined until they are read. */
  readonly acts: readonly Act[] | undefined;
  /** Its money as it is booked now, or undefined if it is not known. */
  readonly money: DecidedMoney | undefined;
}

/** Says who decided over an entry that has left the queue, and what that did. */
function DecidedNote(props: DecidedNoteProps): VNode {
  return (
    <p class="note">
      <span aria-hidden="true">✓</span> {describeDecision(props)}
    </p>
  );
}

export function describeDecision({ row: { id, since }, you, made, acts, money }: DecidedNoteProps): string {
  if (made !== undefined) return words.youDecided(id, ...facts(made.resolution, money ?? made.money, made.at));
  if (acts === undefined) return words.loadingDecision;
  // an entry that waits again has the decisions of before, too
  const act = acts.find(({ action, at }) => action === DECISION && (readTime(at) ?? 0) >= since);
  if (act === undefined) return words.leftByItself;
  const told = facts(readDetail(act)['resolution'] as Resolution, money, readTime(act.at) ?? 0);
  return act.actor === you
    ? words.youDecided(id, ...told)
    : `${words.otherDecided(act.actor, ...told)} ${words.why(act.reason)}`;
}

function facts(resolution: Resolution, money: DecidedMoney | undefined, at: number): [string, string, string] {
  return [words.as[resolution], outcomeText(resolution, money), clockText(at)];
}
