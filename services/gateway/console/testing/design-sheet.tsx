import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { DataTable } from '../parts/data-table.tsx';
import type { Column } from '../parts/data-table.tsx';
import { EmptyState } from '../parts/empty-state.tsx';
import { FilterBar } from '../parts/filter-bar.tsx';
import { Skeleton } from '../parts/loaded.tsx';
import { PageTitle } from '../parts/page-title.tsx';
import { SelectField } from '../parts/select-field.tsx';
import { Badge, StateBadge } from '../parts/state-badge.tsx';
import { Stats } from '../parts/stats.tsx';
import { Tabs } from '../parts/tabs.tsx';
import { TextField } from '../parts/text-field.tsx';

interface Row {
  readonly name: string;
  readonly state: 'queued' | 'in_progress' | 'completed' | 'failed';
  readonly charge: string;
}

const ROWS: readonly Row[] = [
  { name: 'a red kite over the dunes', state: 'completed', charge: '$0.40' },
  { name: 'two chess players in a park', state: 'in_progress', charge: '$12.08' },
  { name: 'a lighthouse in a storm', state: 'failed', charge: '$0.00' },
  { name: 'the old harbour at dawn', state: 'queued', charge: '$1,204.96' },
];
const COLUMNS: readonly Column<Row>[] = [
  { name: 'Prompt', isHead: true, cell: ({ name }) => <a href="#table">{name}</a> },
  { name: 'State', cell: ({ state }) => <StateBadge state={state} /> },
  { name: 'Charge', isNumber: true, cell: ({ charge }) => charge },
  {
    name: 'Act',
    isBare: true,
    cell: () => (
      <button type="button" class="quiet">
        Revoke
      </button>
    ),
  },
];
const SERIES = [0, 1, 2, 3, 4, 5];
const none = (): void => undefined;

/** Draws every part of the console on one page, as markup. */
export function renderDesignSheet(): string {
  return renderToString(<DesignSheet />);
}

function DesignSheet(): VNode {
  return (
    <main>
      <PageTitle
        title="The look of the console"
        beside={<Badge tone="accent">a sheet</Badge>}
        actions={
          <button type="button" class="main">
            The main act
          </button>
        }
        lead="The title of a page, its state, the one main act and a sentence."
      />
      <Stats
        stats={[
          { name: 'Free to spend', value: '$94.24', note: 'of a balance of $95.84' },
          { name: 'Held', value: '$1.60' },
          { name: 'Spent today', value: '$4.16', note: <a href="#usage">Usage by day</a> },
        ]}
      />
      <h2>Buttons and states</h2>
      <p class="actions">
        <button type="button" class="main">
          Main
        </button>
        <button type="button">Other</button>
        <button type="button" class="danger">
          Takes away
        </button>
        <button type="button" class="quiet">
          In a row
        </button>
        <button type="button" disabled>
          Not possible
        </button>
        <button type="button" class="live connected">
          Live
        </button>
        <button type="button" class="live paused">
          Paused
        </button>
      </p>
      <p class="actions">
        <Badge tone="good" shape="●">
          Working
        </Badge>
        <Badge tone="busy" shape="◐">
          Waiting
        </Badge>
        <Badge tone="bad" shape="✕">
          Failing
        </Badge>
        <Badge tone="quiet" shape="○">
          Unused
        </Badge>
        {SERIES.map((at) => (
          <span key={at} class={`swatch series-${at}`} />
        ))}
      </p>
      <h2>Fields</h2>
      <FilterBar setCount={1}>
        <SelectField label="State" value="" options={[{ value: '', name: 'All' }]} onChange={none} />
        <TextField label="Limit" value="twelve" onInput={none} hint="In USD." fault="must be a decimal" />
        <TextField label="From" type="date" value="2026-11-27" onInput={none} />
        <p class="filter-end">
          <button type="submit">Search</button>
        </p>
      </FilterBar>
      <h2 id="table">A table</h2>
      <DataTable caption="Tasks" columns={COLUMNS} rows={ROWS} keyOf={({ name }) => name} />
      <h2>Nothing yet, being read, refused</h2>
      <EmptyState
        title="No videos yet"
        text="Your finished videos appear here."
        action={<button type="button">Create a video</button>}
      />
      <h3>Rows</h3>
      <Skeleton count={2} />
      <h3>Cards</h3>
      <Skeleton of="cards" count={3} />
      <h3>Text</h3>
      <Skeleton of="text" count={3} />
      <div class="refusal">
        <strong>This could not be read</strong>
        <p>The reason, for a person.</p>
      </div>
      <p class="note">A note about what is unusual.</p>
      <h2>Tabs and code</h2>
      <Tabs
        label="Languages"
        tabs={[
          { id: 'curl', name: 'curl', panel: () => <pre tabindex={0}>curl https://example.com</pre> },
          { id: 'python', name: 'Python', panel: () => null },
        ]}
      />
    </main>
  );
}
