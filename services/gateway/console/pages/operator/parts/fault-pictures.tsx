import type { VNode } from 'preact';
import type { FaultGroup, FaultSeries, FaultsView } from '../../../api/operator-now.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { Sparkline } from '../../../parts/sparkline.tsx';
import { faultWords } from '../fault-words.ts';

const words = faultWords.faults;
const TEN_MINUTES = 10;
const HOUR = [60, 50, 40, 30, 20, 10] as const;

type GroupName = keyof FaultsView;

const GROUPS: readonly GroupName[] = ['channels', 'models', 'accounts'];

/** Shows what failed in the last hour, a picture for each channel, model and account. Nothing is shown if nothing did. */
export function FaultPictures({ faults }: { faults: FaultsView }): VNode | null {
  const shown = GROUPS.filter((name) => faults[name].series.length > 0);
  if (shown.length === 0) return null;
  return (
    <section>
      <h2>{words.title}</h2>
      {shown.map((name) => (
        <Group key={name} name={name} group={faults[name]} />
      ))}
    </section>
  );
}

function Group({ name, group: { series, more } }: { name: GroupName; group: FaultGroup }): VNode {
  return (
    <section class="fault-group">
      <h3>{words[name]}</h3>
      <ul class="fault-pictures">
        {series.map((one) => (
          <li key={one.subject} class="card">
            <p class="fault-name">
              <Subject name={name} subject={one.subject} />
            </p>
            <Sparkline values={one.minutes} />
            <p class="small quiet">{describeCounts(name, one)}</p>
          </li>
        ))}
      </ul>
      {more === 0 ? null : <p class="small quiet">{words.more(more)}</p>}
      <details>
        <summary>{words.table}</summary>
        <DataTable
          caption={`${words.title}: ${words[name]}`}
          columns={[
            { name: words.subject, isHead: true, cell: ({ subject }: FaultSeries) => subject || words.others },
            ...TENS,
          ]}
          rows={series}
          keyOf={({ subject }) => subject}
        />
      </details>
    </section>
  );
}

const TENS: readonly Column<FaultSeries>[] = HOUR.map((minutesAgo, place) => ({
  name: words.from(minutesAgo),
  isNumber: true,
  cell: ({ minutes }) =>
    minutes.slice(place * TEN_MINUTES, (place + 1) * TEN_MINUTES).reduce((sum, one) => sum + one, 0),
}));

function describeCounts(name: GroupName, { byUpstream, byUs, byClient }: FaultSeries): string {
  if (name === 'channels') return words.attempts(byUpstream);
  const ours = words.counts(byUpstream, byUs);
  return [ours, byClient === 0 ? '' : words.byClient(byClient)].filter((part) => part !== '').join('; ');
}

function Subject({ name, subject }: { name: GroupName; subject: string }): VNode {
  if (subject === '') return <span class="quiet">{words.others}</span>;
  if (name === 'models')
    return <a href={`/console/tasks?state=failed&model=${encodeURIComponent(subject)}`}>{subject}</a>;
  return (
    <a class="id" href={`/console/${name}/${encodeURIComponent(subject)}`}>
      {subject}
    </a>
  );
}
