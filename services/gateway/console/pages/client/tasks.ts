import type { TaskList } from '../../api/tasks.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { Loaded } from '../../parts/loaded.ts';
import { NewRows, Pager } from '../../parts/pager.ts';
import { At } from '../../parts/time.ts';
import { tasksWords as words } from './client-words.ts';
import { words as common } from '../../words.ts';
import { TaskFilters, isFiltered, listPath } from './parts/task-filters.ts';
import { TaskTable } from './parts/task-table.ts';

const PATH = '/console/tasks';

export function page({ query }: PageProps): VNode {
  const path = listPath(query);
  const view = useView<TaskList>(path, ['tasks']);
  return html`<${PageTitle} title=${words.title} />
    <${TaskFilters} query=${query} models=${view.data?.models ?? []} />
    <${Loaded} view=${view}
      >${(list: TaskList) => html`<${TaskListView} key=${path} list=${list} query=${query} />`}<//
    >`;
}

export function TaskListView({ list, query }: { list: TaskList; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(list.tasks, ({ id }) => id);
  const { searchedTo } = list;
  return html`
    <${NewRows} count=${query.has('after') ? 0 : waiting} onAccept=${accept} />
    ${
      shown.length === 0 && !isFiltered(query) && !query.has('after')
        ? html`<p>${words.noneYet} <a href="/console/try">${words.first}</a></p>`
        : html`<${TaskTable} tasks=${shown} caption=${words.caption} empty=${words.none} />`
    }
    ${searchedTo === undefined ? null : html`<p class="quiet"><${SearchedTo} at=${searchedTo} /></p>`}
    <${Pager}
      path=${PATH}
      query=${query}
      after=${list.after}
      older=${searchedTo === undefined ? common.pages.older : common.pages.searchOn}
    />
  `;
}

function SearchedTo({ at }: { at: number }): VNode {
  return html`${words.searchedTo} <${At} at=${at} />.`;
}
