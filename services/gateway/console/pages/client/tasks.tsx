import type { VNode } from 'preact';
import type { TaskList, TaskRow } from '../../api/tasks.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { StateShape } from '../../parts/state-badge.tsx';
import { Ago, At } from '../../parts/time.tsx';
import { tasksWords as words } from './client-words.ts';
import { words as common } from '../../words.ts';
import { TaskGallery } from './parts/task-gallery.tsx';
import { TaskFilters, isFiltered, listPath } from './parts/task-filters.tsx';
import { TaskTable, chargeText, taskTitle } from './parts/task-table.tsx';
import { setQuery } from '../../state/address.ts';
import { keepChoice, readChoice } from '../../state/kept-values.ts';

const PATH = '/console/tasks';
const SHAPES = {
  list: { of: 'rows', count: 10 },
  compact: { of: 'rows', count: 10 },
  gallery: { of: 'cards', count: 12 },
} as const;
const VIEWS = ['list', 'compact', 'gallery'] as const;
const KEPT_VIEW = 'reelgate.tasks-view';

export function page({ query }: PageProps): VNode {
  const path = listPath(query);
  const view = useView<TaskList>(path, ['tasks']);
  const form = readView(query);
  return (
    <>
      <PageTitle title={words.title} beside={<Total total={view.data?.total} />} actions={<ViewSwitch view={form} />} />
      <TaskFilters query={query} models={view.data?.models ?? []} tokens={view.data?.tokens ?? []} />
      <Loaded view={view} shape={SHAPES[form]}>
        {(list) => <TaskListView key={path} list={list} query={query} />}
      </Loaded>
    </>
  );
}

export function TaskListView({ list, query }: { list: TaskList; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(list.tasks, ({ id }) => id);
  const { searchedTo } = list;
  return (
    <>
      <NewRows count={query.has('after') ? 0 : waiting} onAccept={accept} />
      {shown.length === 0 ? (
        <NoTasks isNew={!isFiltered(query) && !query.has('after')} />
      ) : (
        drawTasks(readView(query), shown)
      )}
      {searchedTo === undefined ? null : (
        <p class="quiet">
          <SearchedTo at={searchedTo} />
        </p>
      )}
      <Pager
        path={PATH}
        query={query}
        after={list.after}
        older={searchedTo === undefined ? common.pages.older : common.pages.searchOn}
      />
    </>
  );
}

function drawTasks(form: TasksView, tasks: readonly TaskRow[]): VNode {
  if (form === 'gallery') return <TaskGallery tasks={tasks} />;
  if (form === 'compact') return <CompactList tasks={tasks} />;
  return <TaskTable tasks={tasks} caption={words.caption} empty="" />;
}

/** Shown if no task matches or no task exists yet. */
function NoTasks({ isNew }: { isNew: boolean }): VNode {
  if (!isNew) return <EmptyState title={words.none} text={words.noneTeach} />;
  const action = (
    <a class="button main" href="/console/try">
      {words.first}
    </a>
  );
  return <EmptyState title={words.noneYet} text={words.noneYetTeach} action={action} />;
}

/** The number of tasks that match. Its place is kept on later pages, which do not count. */
function Total({ total }: { total: TaskList['total'] }): VNode {
  return (
    <span class="total quiet" role="status">
      {total === undefined ? '' : words.total(total.count, total.isLeast)}
    </span>
  );
}

function SearchedTo({ at }: { at: number }): VNode {
  return (
    <>
      {words.searchedTo} <At at={at} />.
    </>
  );
}

/** Tasks in one line each, in two columns where there is room, so that fifty are seen at once. */
function CompactList({ tasks }: { tasks: readonly TaskRow[] }): VNode {
  return (
    <ol class="compact-list" aria-label={words.caption}>
      {tasks.map((task) => (
        <li key={task.id}>
          <StateShape state={task.state} />
          <a href={`/console/tasks/${encodeURIComponent(task.id)}`} title={taskTitle(task)}>
            {taskTitle(task)}
          </a>
          <span class="quiet">{task.seconds > 0 ? words.seconds(task.seconds) : ''}</span>
          <span class="number">{chargeText(task.charge)}</span>
          <span class="quiet number">
            <Ago at={task.createdAt} />
          </span>
        </li>
      ))}
    </ol>
  );
}

/** The forms of the list of tasks. */
type TasksView = (typeof VIEWS)[number];

/** The form that the address names, else the one that was chosen last in this browser. */
function readView(query: URLSearchParams): TasksView {
  return toView(query.get('view')) ?? toView(readChoice(KEPT_VIEW)) ?? 'list';
}

/** Chooses the form of the list. A link to the page holds it, and the next visit has it too. */
function ViewSwitch({ view }: { view: TasksView }): VNode {
  return (
    <div class="segments" role="group" aria-label={words.views.legend}>
      {VIEWS.map((name) => (
        <button
          key={name}
          type="button"
          aria-pressed={name === view ? 'true' : 'false'}
          onClick={() => {
            keepChoice(KEPT_VIEW, name);
            setQuery({ view: name }, { replace: true });
          }}
        >
          {words.views[name]}
        </button>
      ))}
    </div>
  );
}

function toView(text: string | null | undefined): TasksView | undefined {
  return VIEWS.find((view) => view === text);
}
