import type { VNode } from 'preact';
import type { Home, HomeMoney, Limit } from '../../api/home.ts';
import type { TaskRow } from '../../api/tasks.ts';
import { useView } from '../../state/use-view.ts';
import { PageTitle } from '../../parts/page-title.tsx';
import { EmptyState } from '../../parts/empty-state.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { moneyText, parseNanos } from '../../parts/number-text.tsx';
import { Stats } from '../../parts/stats.tsx';
import type { Stat } from '../../parts/stats.tsx';
import { TaskGallery } from './parts/task-gallery.tsx';
import { TaskTable } from './parts/task-table.tsx';
import { homeWords as words } from './client-words.ts';

const LIST = '/console/tasks';

export function page(): VNode {
  const view = useView<Home>('/home', ['tasks']);
  return (
    <>
      <PageTitle
        title={words.title}
        actions={
          <a class="button main" href="/console/try">
            {words.create}
          </a>
        }
      />
      <Loaded view={view} shape={{ of: 'cards' }}>
        {(home) => <HomeView home={home} />}
      </Loaded>
    </>
  );
}

/** Shows the facts that a visitor needs first: money, running tasks, results and failures. */
export function HomeView({ home }: { home: Home }): VNode {
  return (
    <>
      {home.money === undefined ? <p class="note">{words.money.unavailable}</p> : <Balance money={home.money} />}
      <section>
        <SectionHead title={words.running.title} all={words.running.all} path={`${LIST}?state=running`} />
        <TaskTable tasks={home.running} caption={words.running.title} empty={words.running.none} />
      </section>
      <section>
        <SectionHead title={words.recent.title} all={words.recent.all} path={`${LIST}?state=completed`} />
        <Gallery tasks={home.recent} />
      </section>
      <section>
        <SectionHead title={words.failures.title} all={words.failures.all} path={`${LIST}?state=failed`} />
        <TaskTable tasks={home.failures} caption={words.failures.title} empty={words.failures.none} />
      </section>
      <Limits limits={home.limits} />
    </>
  );
}

function SectionHead({ title, all, path }: { title: string; all: string; path: string }): VNode {
  return (
    <div class="title-line">
      <h2>{title}</h2>
      <a class="small" href={path}>
        {all}
      </a>
    </div>
  );
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
      note: <a href="/console/usage">{words.money.usage}</a>,
    },
  ];
  return (
    <section>
      <h2 class="spoken">{words.money.title}</h2>
      {(parseNanos(free.amount) ?? 0n) > 0n ? null : <p class="note">{words.money.none}</p>}
      <Stats stats={stats} />
    </section>
  );
}

function Gallery({ tasks }: { tasks: readonly TaskRow[] }): VNode {
  if (tasks.length === 0)
    return (
      <EmptyState
        title={words.recent.none}
        text={words.recent.teach}
        action={
          <a class="button" href="/console/try">
            {words.create}
          </a>
        }
      />
    );
  return <TaskGallery tasks={tasks} isLatest />;
}

function Limits({ limits }: { limits: readonly Limit[] }): VNode {
  const { title, none, names, used: usedText, most } = words.limits;
  return (
    <section>
      <h2>{title}</h2>
      {limits.length === 0 ? <p class="quiet">{none}</p> : null}
      <dl class="limits">
        {limits.map(({ name, used, limit }) => (
          <div key={name}>
            <dt>{names[name]}</dt>
            <dd>
              {used === undefined ? most(limit) : usedText(used, limit)}
              {used === undefined ? null : (
                <progress max={limit} value={used} aria-label={`${names[name]}: ${usedText(used, limit)}`} />
              )}
            </dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
