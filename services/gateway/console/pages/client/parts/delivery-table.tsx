import type { VNode } from 'preact';
import type { Delivery } from '../../../api/webhooks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import type { Column } from '../../../parts/data-table.tsx';
import { Ago, useNow } from '../../../parts/time.tsx';
import { deliveryWords as words } from '../../../parts/delivery-words.ts';
import { DeliveryState, lastAnswer } from '../../../parts/delivery-state.tsx';
import { SubjectLink } from '../../../parts/links.tsx';

export interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly empty: string;
  /** True if a column names the task. The page of a task does not need this column. */
  readonly withSubject: boolean;
}

export function DeliveryTable({ deliveries, empty, withSubject }: DeliveryTableProps): VNode {
  return (
    <DataTable
      caption={words.caption}
      rows={deliveries}
      keyOf={({ id }) => id}
      empty={empty}
      columns={buildDeliveryColumns(withSubject)}
    />
  );
}

function buildDeliveryColumns(withSubject: boolean): readonly Column<Delivery>[] {
  const { columns } = words;
  return [
    { name: columns.state, cell: ({ state }) => <DeliveryState state={state} /> },
    {
      name: columns.event,
      isHead: true,
      cell: ({ id, endpointId, eventType }) => (
        <a href={`/console/webhooks/${encodeURIComponent(endpointId)}/${encodeURIComponent(id)}`}>{eventType}</a>
      ),
    },
    ...(withSubject
      ? [{ name: columns.subject, cell: ({ subjectId }: Delivery) => <SubjectLink id={subjectId} /> }]
      : []),
    { name: columns.last, cell: lastAnswer },
    { name: columns.attempts, isNumber: true, cell: ({ attemptCount }) => String(attemptCount) },
    { name: columns.at, cell: ({ createdAt }) => <Ago at={readTime(createdAt)} /> },
    {
      name: columns.next,
      cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '–' : <Due at={readTime(nextAttemptAt)} />),
    },
  ];
}

/** A time that has come is told as such: the next attempt begins with the next look. */
export function Due({ at }: { at: number }): VNode {
  const now = useNow();
  return at <= now ? <span>{words.due}</span> : <Ago at={at} />;
}
