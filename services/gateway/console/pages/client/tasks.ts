import type { TaskList, TaskRow } from '../../api/tasks.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { EmptyState } from '../../parts/empty-state.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Loaded } from '../../parts/loaded.ts';
import { NewRows, Pager } from '../../parts/pager.ts';
import { StateShape } from '../../parts/state-badge.ts';
import { Ago, At } from '../../parts/time.ts';
import { tasksWords as words } from './client-words.ts';
import { words as common } from '../../words.ts';
import { TaskGallery } from './parts/task-gallery.ts';
import { ViewSwitch, readView } from './parts/view-switch.ts';
import type { TasksView } from './parts/view-switch.ts';
import { TaskFilters, isFiltered, listPath } from './parts/task-filters.ts';
import { TaskTable, chargeText, taskTitle } from './parts/task-table.ts';

const PATH = '/console/tasks';
const SHAPES = {
  list: { of: 'rows', count: 10 },
  compact: { of: 'rows', count: 10 },
  gallery: { of: 'cards', count: 12 },
} as const;

export function page({ query }: PageProps): VNode {
  const path = listPath(query);
  const view = useView<TaskList>(path, ['tasks']);
  const form = readView(query);
  return html`<${PageTitle}
      title=${words.title}
      beside=${html`<${Total} total=${view.data?.total} />`}
      actions=${html`<${ViewSwitch} view=${form} />`}
    />
    <${TaskFilters} query=${query} models=${view.data?.models ?? []} tokens=${view.data?.tokens ?? []} />
    <${Loaded} view=${view} shape=${SHAPES[form]}
      >${(list: TaskList) => html`<${TaskListView} key=${path} list=${list} query=${query} />`}<//
    >`;
}

export function TaskListView({ list, query }: { list: TaskList; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(list.tasks, ({ id }) => id);
  const { searchedTo } = list;
  return html`
    <${NewRows} count=${query.has('after') ? 0 : waiting} onAccept=${accept} />
    ${shown.length === 0 ? html`<${NoTasks} isNew=${!isFiltered(query) && !query.has('after')} />` : drawTasks(readView(query), shown)}
    ${searchedTo === undefined ? null : html`<p class="quiet"><${SearchedTo} at=${searchedTo} /></p>`}
    <${Pager}
      path=${PATH}
      query=${query}
      after=${list.after}
      older=${searchedTo === undefined ? common.pages.older : common.pages.searchOn}
    />
  `;
}

function drawTasks(form: TasksView, tasks: readonly TaskRow[]): VNode {
  if (form === 'gallery') return html`<${TaskGallery} tasks=${tasks} />`;
  if (form === 'compact') return html`<${CompactList} tasks=${tasks} />`;
  return html`<${TaskTable} tasks=${tasks} caption=${words.caption} empty="" />`;
}

/** Nothing matches, or nothing was made yet. */
function NoTasks({ isNew }: { isNew: boolean }): VNode {
  if (!isNew) return html`<${EmptyState} title=${words.none} text=${words.noneTeach} />`;
  const action = html`<a class="button main" href="/console/try">${words.first}</a>`;
  return html`<${EmptyState} title=${words.noneYet} text=${words.noneYetTeach} action=${action} />`;
}

/** The number of tasks that match. Its place is kept on later pages, which do not count. */
function Total({ total }: { total: TaskList['total'] }): VNode {
  return html`<span class="total quiet" role="status">
    ${total === undefined ? '' : words.total(total.count, total.isLeast)}
  </span>`;
}

function SearchedTo({ at }: { at: number }): VNode {
  return html`${words.searchedTo} <${At} at=${at} />.`;
}

/** Tasks in one line each, in two columns where there is room, so that fifty are seen at once. */
function CompactList({ tasks }: { tasks: readonly TaskRow[] }): VNode {
  return html`<ol class="compact-list" aria-label=${words.caption}>
    ${tasks.map(
      (task) =>
        html`<li key=${task.id}>
          <${StateShape} state=${task.state} />
          <a href=${`/console/tasks/${encodeURIComponent(task.id)}`} title=${taskTitle(task)}>${taskTitle(task)}</a>
          <span class="quiet">${task.seconds > 0 ? words.seconds(task.seconds) : ''}</span>
          <span class="number">${chargeText(task.charge)}</span>
          <span class="quiet number"><${Ago} at=${task.createdAt} /></span>
        </li>`,
    )}
  </ol>`;
}
