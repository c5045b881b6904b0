import type { ComponentChildren, VNode } from 'preact';
import type { Charge } from '../../../api/money.ts';
import type { TaskRow } from '../../../api/tasks.ts';
import { plainMessage } from '../../../state/api.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { moneyText } from '../../../parts/number-text.tsx';
import { StateBadge } from '../../../parts/state-badge.tsx';
import { Ago, durationText, useNow } from '../../../parts/time.tsx';
import { tasksWords as words } from '../client-words.ts';
import { words as common } from '../../../words.ts';

export interface TaskTableProps {
  readonly tasks: readonly TaskRow[];
  readonly caption: string;
  readonly empty: string | VNode;
}

/** A table of tasks with the picture, the prompt, the order, the state, the time and the money of each. */
export function TaskTable({ tasks, caption, empty }: TaskTableProps): VNode {
  return (
    <div class="task-table">
      <DataTable caption={caption} rows={tasks} keyOf={({ id }) => id} empty={empty} columns={COLUMNS} />
    </div>
  );
}

const COLUMNS: readonly Column<TaskRow>[] = [
  { name: words.columns.picture, isBare: true, cell: (task) => <Thumbnail task={task} /> },
  {
    name: words.columns.prompt,
    isHead: true,
    cell: (task) => (
      <>
        <a class="prompt-link" href={`/console/tasks/${encodeURIComponent(task.id)}`}>
          {taskTitle(task)}
        </a>
        <span class="id quiet">{task.id}</span>
        {task.failure === undefined ? null : <span class="fault small">{plainMessage(task.failure)}</span>}
      </>
    ),
  },
  { name: words.columns.state, cell: (task) => <Standing task={task} /> },
  { name: words.columns.order, cell: (task) => <Order task={task} /> },
  { name: words.columns.age, cell: ({ createdAt }) => <Ago at={createdAt} /> },
  { name: words.columns.took, isNumber: true, cell: (task) => <Took task={task} /> },
  { name: words.columns.charge, isNumber: true, cell: ({ charge }) => chargeText(charge) },
];

function Order({ task }: { task: TaskRow }): VNode {
  const { kind, model, seconds, resolution, ratio } = task;
  const facts = [seconds > 0 ? words.seconds(seconds) : '', resolution, ratio].filter((fact) => fact !== '');
  return (
    <span class="lines">
      <span>{model}</span>
      <span class="quiet small">{facts.join(' · ')}</span>
      {kind === 'generation' ? null : <span class="quiet small">{common.kinds[kind]}</span>}
    </span>
  );
}

function Standing({ task: { state, progress } }: { task: TaskRow }): VNode {
  return (
    <span class="lines">
      <StateBadge state={state} />
      {state === 'in_progress' ? (
        <span class="progress-line small">
          <progress max={100} value={progress} aria-label={words.progressOf(progress)} />
          <span aria-hidden="true">{words.percent(progress)}</span>
        </span>
      ) : null}
    </span>
  );
}

function Took({ task: { createdAt, endedAt } }: { task: TaskRow }): VNode {
  const now = useNow(endedAt === undefined);
  return <span>{durationText((endedAt ?? now) - createdAt)}</span>;
}

/** Returns the charged amount, or the held amount until there is a charge. */
export function chargeText(charge: Charge | undefined): ComponentChildren {
  if (charge === undefined) return words.notYet;
  const { held, charged } = charge;
  return charged === undefined
    ? words.held(moneyText(held.amount, held.currency))
    : moneyText(charged.amount, charged.currency);
}

/** Returns the name of a task in a list: its prompt, or its kind if it has no prompt. */
export function taskTitle({ prompt, kind, resolution }: Pick<TaskRow, 'prompt' | 'kind' | 'resolution'>): string {
  return prompt.trim() === '' ? [common.kinds[kind], resolution].filter(Boolean).join(', ') : prompt;
}

const WIDTH = 96;
const HEIGHT = 54;

/** A thumbnail of the video. The prompt next to it is its description. */
export function Thumbnail({ task: { thumbnail, state } }: { task: TaskRow }): VNode {
  return thumbnail === undefined ? (
    <span class={`thumbnail none ${state}`} aria-hidden="true" />
  ) : (
    <img class="thumbnail" src={thumbnail} alt="" width={WIDTH} height={HEIGHT} loading="lazy" />
  );
}
