import type { Home, HomeMoney, Limit } from '../../api/home.ts';
import type { TaskRow } from '../../api/tasks.ts';
import { useView } from '../../state/use-view.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { EmptyState } from '../../parts/empty-state.ts';
import { Loaded } from '../../parts/loaded.ts';
import { moneyText, parseNanos } from '../../parts/number-text.ts';
import { Stats } from '../../parts/stats.ts';
import type { Stat } from '../../parts/stats.ts';
import { TaskGallery } from './parts/task-gallery.ts';
import { TaskTable } from './parts/task-table.ts';
import { homeWords as words } from './client-words.ts';

const LIST = '/console/tasks';

export function page(): VNode {
  const view = useView<Home>('/home', ['tasks']);
  return html`<${PageTitle}
      title=${words.title}
      actions=${html`<a class="button main" href="/console/try">${words.create}</a>`}
    />
    <${Loaded} view=${view} shape=${{ of: 'cards' }}>${(home: Home) => html`<${HomeView} home=${home} />`}<//>`;
}

/** Shows the facts that a visitor needs first: money, running tasks, results and failures. */
export function HomeView({ home }: { home: Home }): VNode {
  return html`
    ${home.money === undefined ? html`<p class="note">${words.money.unavailable}</p>` : html`<${Balance} money=${home.money} />`}
    <section>
      <${SectionHead} title=${words.running.title} all=${words.running.all} path=${`${LIST}?state=running`} />
      <${TaskTable} tasks=${home.running} caption=${words.running.title} empty=${words.running.none} />
    </section>
    <section>
      <${SectionHead} title=${words.recent.title} all=${words.recent.all} path=${`${LIST}?state=completed`} />
      <${Gallery} tasks=${home.recent} />
    </section>
    <section>
      <${SectionHead} title=${words.failures.title} all=${words.failures.all} path=${`${LIST}?state=failed`} />
      <${TaskTable} tasks=${home.failures} caption=${words.failures.title} empty=${words.failures.none} />
    </section>
    <${Limits} limits=${home.limits} />
  `;
}

function SectionHead({ title, all, path }: { title: string; all: string; path: string }): VNode {
  return html`<div class="title-line">
    <h2>${title}</h2>
    <a class="small" href=${path}>${all}</a>
  </div>`;
}

function Balance({ money }: { money: HomeMoney }): VNode {
  const { free, balance, held, spentToday, spent30Days } = money;
  const text = ({ amount, currency }: HomeMoney['free']): string => moneyText(amount, currency);
  const stats: readonly Stat[] = [
    { name: words.money.free, value: text(free), note: words.money.balance(text(balance)) },
    { name: words.money.held, value: text(held) },
    { name: words.money.today, value: text(spentToday) },
    {
      name: words.money.month,
      value: text(spent30Days),
      note: html`<a href="/console/usage">${words.money.usage}</a>`,
    },
  ];
  return html`<section>
    <h2 class="spoken">${words.money.title}</h2>
    ${(parseNanos(free.amount) ?? 0n) > 0n ? null : html`<p class="note">${words.money.none}</p>`}
    <${Stats} stats=${stats} />
  </section>`;
}

function Gallery({ tasks }: { tasks: readonly TaskRow[] }): VNode {
  if (tasks.length === 0)
    return html`<${EmptyState}
      title=${words.recent.none}
      text=${words.recent.teach}
      action=${html`<a class="button" href="/console/try">${words.create}</a>`}
    />`;
  return html`<${TaskGallery} tasks=${tasks} isLatest />`;
}

function Limits({ limits }: { limits: readonly Limit[] }): VNode {
  const { title, none, names, used: usedText, most } = words.limits;
  return html`<section>
    <h2>${title}</h2>
    ${limits.length === 0 ? html`<p class="quiet">${none}</p>` : null}
    <dl class="limits">
      ${limits.map(
        ({ name, used, limit }) =>
          html`<div key=${name}>
            <dt>${names[name]}</dt>
            <dd>
              ${used === undefined ? most(limit) : usedText(used, limit)}
              ${
                used === undefined
                  ? null
                  : html`<progress
                      max=${limit}
                      value=${used}
                      aria-label=${`${names[name]}: ${usedText(used, limit)}`}
                    ></progress>`
              }
            </dd>
          </div>`,
      )}
    </dl>
  </section>`;
}
