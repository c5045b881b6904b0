import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { QueuePlace, TaskView } from '../../api/task.ts';
import { announce } from '../../state/announce.ts';
import { useMe } from '../../state/door.ts';
import { useRefreshWhile } from '../../state/use-due-reads.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { CodeBlock, CopyButton } from '../../parts/copy-button.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { Timeline } from '../../parts/timeline-chart.tsx';
import { useNow, durationText, localText, relativeText } from '../../parts/time.tsx';
import { taskWords } from './task-words.ts';
import { words } from '../../words.ts';
import { MoneyLine } from './parts/money-line.tsx';
import { TaskActs } from './parts/task-acts.tsx';
import { TaskCall, TaskRequest } from './parts/task-request.tsx';
import { taskTitle } from './parts/task-table.tsx';
import { TaskResult } from './parts/task-result.tsx';
import { StateBadge } from '../../parts/state-badge.tsx';
import type { Delivery } from '../../api/webhooks.ts';
import { readDeliveryState } from '../../parts/delivery-state.tsx';
import { DeliveryTable } from './parts/delivery-table.tsx';

/** The letters of a prompt that are the title; the whole prompt stands with the request. */
const NAME_MAX = 120;
const { status: statusWords, webhooks: webhooksWords } = taskWords;

export function page({ params }: PageProps): VNode {
  const id = params['taskId'] ?? '';
  const view = useView<TaskView>(`/tasks/${encodeURIComponent(id)}`, [`task:${id}`]);
  const { webhooks } = useMe();
  return (
    <>
      <PageTitle
        back={{ href: '/console/tasks', name: taskWords.back }}
        title={view.data === undefined ? taskWords.title : nameTask(view.data.task)}
        lead={
          <>
            <span class="id">{id}</span> <CopyButton text={id} what={taskWords.id} />
          </>
        }
      />
      <Loaded view={view} shape={{ of: 'cards', count: 2 }}>
        {(task) => <TaskPage view={task} maySeeWebhooks={webhooks !== 'none'} onChanged={view.refresh} />}
      </Loaded>
    </>
  );
}

/** The name of the page and of its tab: the beginning of the prompt. */
function nameTask(task: TaskView['task']): string {
  const name = taskTitle({ ...task, prompt: task.fullPrompt }).replaceAll(/\s+/g, ' ');
  const letters = [...name];
  return letters.length > NAME_MAX ? `${letters.slice(0, NAME_MAX).join('').trimEnd()}…` : name;
}

export interface TaskPageProps {
  readonly view: TaskView;
  readonly maySeeWebhooks: boolean;
  readonly onChanged: () => void;
}

/** All facts of a task, the most important first: its state, the video, the money, then its history. */
export function TaskPage({ view, maySeeWebhooks, onChanged }: TaskPageProps): VNode {
  const { task, timeline, unavailable } = view;
  const isRunning = task.state === 'queued' || task.state === 'in_progress';
  const now = useNow(isRunning);
  useRefreshWhile(isSettling(view), onChanged);
  useAnnouncedState(task.state);
  return (
    <article class="task">
      <div class="task-top">
        <div class="task-screen">
          <TaskResult view={view} />
        </div>
        <div class="task-side">
          <TaskStatus task={task} now={isRunning ? now : view.now} />
          <TaskActs view={view} onChanged={onChanged} />
          <section>
            <h2>{taskWords.money}</h2>
            <MoneyLine money={view.money} resolution={task.resolution} isUnavailable={unavailable.includes('money')} />
          </section>
          <TaskRequest view={view} />
        </div>
      </div>
      <TaskCall call={view.sameCall} />
      <section>
        <h2>{taskWords.timeline}</h2>
        {unavailable.includes('timeline') ? <p class="note">{taskWords.timelineUnavailable}</p> : null}
        <Timeline entries={timeline} now={isRunning ? now : view.now} />
      </section>
      <TaskWebhooks
        deliveries={view.deliveries}
        maySee={maySeeWebhooks}
        isUnavailable={unavailable.includes('deliveries')}
      />
      <details class="raw">
        <summary>{taskWords.raw.title}</summary>
        <p class="quiet small">
          <code>{taskWords.raw.path(task.id)}</code>
        </p>
        <CodeBlock text={JSON.stringify(view.raw, null, 2)} what={taskWords.raw.what} />
      </details>
    </article>
  );
}

/** Reports whether the task has ended, and its money or its first deliveries follow in a moment. */
function isSettling({ task, money, deliveries }: TaskView): boolean {
  if (task.endedAt === undefined) return false;
  const isCharging = money !== undefined && money.settledAt === undefined && money.basis !== 'deferred';
  return (
    isCharging ||
    deliveries.some(({ state, attemptCount }) => readDeliveryState(state) === 'pending' && attemptCount === 0)
  );
}

/** A change of the state is spoken, the first one that is shown is not. */
function useAnnouncedState(state: TaskView['task']['state']): void {
  const told = useRef(state);
  useEffect(() => {
    if (told.current !== state) announce(statusWords.announced(words.states[state]));
    told.current = state;
  }, [state]);
}

/** The state in words, how long it lasts, and how far the work has come. */
function TaskStatus({ task, now }: { task: TaskView['task']; now: number }): VNode {
  const { state, progress, createdAt, endedAt, queue } = task;
  const isRunning = endedAt === undefined && (state === 'queued' || state === 'in_progress');
  return (
    <div class="task-status">
      <p class="status-line">
        <StateBadge state={state} text={statusWords[state](durationText((endedAt ?? now) - createdAt))} />
      </p>
      {isRunning ? (
        <p class="progress-line">
          <progress max={100} value={progress} aria-label={statusWords.progress(progress)} />
          <span aria-hidden="true">{statusWords.progress(progress)}</span>
        </p>
      ) : null}
      {queue === undefined ? null : <p>{describePlace(queue, now)}</p>}
    </div>
  );
}

/** Shows why a task waits, how many tasks are ahead of it, and when it is expected to start. */
function describePlace({ position, estimatedStartAt, startBy, waitsFor }: QueuePlace, now: number): string {
  return [
    statusWords.waitsFor[waitsFor],
    position === 0 ? statusWords.isNext : statusWords.before(position),
    estimatedStartAt === undefined || estimatedStartAt <= now
      ? ''
      : statusWords.starts(relativeText(estimatedStartAt, now)),
    statusWords.startBy(localText(startBy)),
  ]
    .filter((text) => text !== '')
    .join(' ');
}

interface TaskWebhooksProps {
  readonly deliveries: readonly Delivery[];
  readonly maySee: boolean;
  readonly isUnavailable: boolean;
}

/** Shows the receivers that were told about the task, and their answers. */
function TaskWebhooks({ deliveries, maySee, isUnavailable }: TaskWebhooksProps): VNode {
  const why = maySee ? webhooksWords.unavailable : webhooksWords.noRight;
  return (
    <section>
      <h2>{webhooksWords.title}</h2>
      {!maySee || isUnavailable ? (
        <p class="quiet">{why}</p>
      ) : (
        <DeliveryTable deliveries={deliveries} empty={webhooksWords.none} withSubject={false} />
      )}
    </section>
  );
}
