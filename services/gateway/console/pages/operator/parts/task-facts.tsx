import type { ComponentChildren, VNode } from 'preact';
import type { RpcAnswer } from '../../../api/calls.ts';
import type { OperatorTaskView, TaskRecord } from '../../../api/operator-tasks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { At, durationText, useNow, spanText } from '../../../parts/time.tsx';
import { words as shared } from '../../../words.ts';
import { evidenceWords } from '../evidence-words.ts';
import { recordWords } from '../record-words.ts';
import { queueWords } from '../queue-words.ts';
import { bytesText } from '../../../parts/number-text.tsx';
import { DataTable, Facts } from '../../../parts/data-table.tsx';
import type { Column, Fact } from '../../../parts/data-table.tsx';

const words = recordWords.task;

type Task = OperatorTaskView['task'];
/** A task that waits for a channel. */
export type QueuedTask = RpcAnswer<'tasks.QueueService/ShowQueuedTask'>;

interface TaskFactsProps {
  readonly task: Task;
  readonly record: TaskRecord;
  readonly video: OperatorTaskView['video'];
  readonly queued: QueuedTask | undefined;
}

/** The state of a task, how far it is, and why it failed. */
export function TaskStatus({ task }: { task: Task }): VNode {
  const { state, progress, createdAt, endedAt, failure } = task;
  const now = useNow(endedAt === undefined);
  const took = durationText((endedAt ?? now) - createdAt);
  return (
    <>
      <p class="status">
        <StateBadge state={state} />
        <span class="quiet">{endedAt === undefined ? words.since(took) : words.took(took)}</span>
        <CopyButton text={task.id} what={task.id} label={words.copyId} />
      </p>
      {state === 'in_progress' ? (
        <p>
          <progress max={100} value={progress} aria-label={words.progress} /> {progress} %
        </p>
      ) : null}
      {failure === undefined ? null : (
        <p class="note">
          <strong>{failure.message}</strong> <code>{failure.code}</code>
        </p>
      )}
    </>
  );
}

/** Shows where a task is: its account, its channel and its ids. */
export function TaskFacts(props: TaskFactsProps): VNode {
  return <Facts facts={listTaskFacts(props)} style="beside" />;
}

function listTaskFacts({ task, record, video, queued }: TaskFactsProps): readonly Fact[] {
  const { accountId, tokenName, endedAt } = task;
  const { tokenId, channel, upstreamStatus, admission, pollErrors } = record;
  const nextPollAt = readTime(record.nextPollAt);
  const ended = endedAt !== undefined;
  return [
    [words.account, <a href={`/console/accounts/${encodeURIComponent(accountId)}`}>{accountId}</a>],
    [
      words.token,
      <>
        {tokenName === '' ? null : `${tokenName} `}
        <span class="id">{tokenId}</span>
      </>,
    ],
    [words.channel, channel === '' ? words.noChannel : <span class="id">{channel}</span>],
    [words.upstreamId, renderId(record.upstreamId)],
    [words.upstreamStatus, upstreamStatus === '' ? words.none : upstreamStatus],
    [words.admission, evidenceWords.evidence.admissions[admission] ?? admission],
    ...(queued?.place === undefined ? [] : ([[queueWords.title, placeText(queued.place, queued.reason)]] as const)),
    ...(ended ? [] : ([[words.nextPoll, nextPollAt === undefined ? words.noPoll : <At at={nextPollAt} />]] as const)),
    ...(pollErrors === 0 ? [] : ([[words.pollErrors, pollErrors]] as const)),
    [words.requestId, renderId(record.requestId)],
    [words.traceId, renderId(record.traceId)],
    [words.created, <At at={task.createdAt} />],
    ...(endedAt === undefined ? [] : ([[words.ended, <At at={endedAt} />]] as const)),
    ...(task.expiresAt === undefined ? [] : ([[words.expires, <At at={task.expiresAt} />]] as const)),
    ...(video === undefined ? [] : ([[words.video, videoText(video)]] as const)),
  ];
}

function placeText(place: NonNullable<QueuedTask['place']>, reason: QueuedTask['reason']): VNode {
  const { reasons, classes, placeOf, expected, failsAt } = queueWords;
  const why = reasons[reason] === '' ? '' : `${reasons[reason]}; `;
  const expectedAt = readTime(place.estimatedStartAt);
  return (
    <>
      {why}
      {placeOf(classes[place.class] || classes.QUEUE_CLASS_STANDARD, place.position)}
      {expectedAt === undefined ? null : (
        <>
          ; {expected} <At at={expectedAt} />
        </>
      )}
      ; {failsAt} <At at={readTime(place.startBy) ?? 0} />
    </>
  );
}

function renderId(id: string): ComponentChildren {
  if (id === '') return words.none;
  return (
    <>
      <span class="id">{id}</span> <CopyButton text={id} what={id} />
    </>
  );
}

function videoText({
  width,
  height,
  durationMs,
  frameRate,
  bytes,
  mediaType,
}: NonNullable<OperatorTaskView['video']>): string {
  const rate = Math.round(frameRate * 100) / 100;
  return [`${width} × ${height}`, durationText(durationMs), words.frames(rate), bytesText(bytes), mediaType].join(', ');
}

/** Returns the order of a client in one line. */
export function orderLine({ kind, model, seconds, resolution, ratio }: Task): string {
  const facts = [shared.kinds[kind], model, seconds > 0 ? `${seconds} s` : '', resolution, ratio];
  return facts.filter((fact) => fact !== '').join(' · ');
}

type Attempt = TaskRecord['attempts'][number];

const NONE = '–';

const SHAPES: Readonly<Record<string, readonly [string, string]>> = {
  accepted: ['●', 'good'],
  refused: ['✕', 'bad'],
  unknown: ['?', 'busy'],
};

const COLUMNS: readonly Column<Attempt>[] = [
  { name: evidenceWords.evidence.number, cell: ({ number }) => number, isHead: true },
  { name: evidenceWords.evidence.channel, cell: ({ channel }) => <span class="id">{channel}</span> },
  { name: evidenceWords.evidence.outcome, cell: ({ outcome }) => renderOutcome(outcome) },
  {
    name: evidenceWords.evidence.answered,
    cell: ({ error }) => (error === '' ? NONE : <span class="error-text">{error}</span>),
  },
  {
    name: evidenceWords.evidence.upstreamId,
    cell: ({ upstreamId }) => <span class="id">{upstreamId === '' ? NONE : upstreamId}</span>,
  },
  { name: evidenceWords.evidence.began, cell: ({ startedAt }) => <At at={readTime(startedAt) ?? 0} /> },
  {
    name: evidenceWords.evidence.took,
    isNumber: true,
    cell: ({ startedAt, endedAt }) =>
      endedAt === undefined ? NONE : spanText(readTime(endedAt) - (readTime(startedAt) ?? 0)),
  },
];

/** Every try of a task on a channel, and what the upstream answered. */
export function AttemptTable({ attempts }: { attempts: readonly Attempt[] }): VNode {
  return (
    <DataTable
      caption={evidenceWords.evidence.attempts}
      columns={COLUMNS}
      rows={attempts}
      keyOf={({ number }) => String(number)}
      empty={evidenceWords.evidence.noAttempts}
    />
  );
}

function renderOutcome(outcome: string): VNode {
  const [shape, style] = SHAPES[outcome] ?? ['○', 'quiet'];
  return (
    <span class={`state ${style}`}>
      <span aria-hidden="true">{shape}</span> {evidenceWords.evidence.outcomes[outcome] ?? outcome}
    </span>
  );
}
