import type { Delivery } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { DataTable } from '../../../parts/data-table.ts';
import type { Column } from '../../../parts/data-table.ts';
import { Ago, useNow } from '../../../parts/time.ts';
import { deliveryWords as words } from '../../../parts/delivery-words.ts';
import { DeliveryState, lastAnswer } from '../../../parts/delivery-state.ts';
import { SubjectLink } from '../../../parts/links.ts';

export interface DeliveryTableProps {
  readonly deliveries: readonly Delivery[];
  readonly empty: string;
  /** True if a column names the task; the page of a task needs none. */
  readonly withSubject: boolean;
}

export function DeliveryTable({ deliveries, empty, withSubject }: DeliveryTableProps): VNode {
  return html`<${DataTable}
    caption=${words.caption}
    rows=${deliveries}
    keyOf=${({ id }: Delivery) => id}
    empty=${empty}
    columns=${buildDeliveryColumns(withSubject)}
  />`;
}

function buildDeliveryColumns(withSubject: boolean): readonly Column<Delivery>[] {
  const { columns } = words;
  return [
    { name: columns.state, cell: ({ state }) => html`<${DeliveryState} state=${state} />` },
    {
      name: columns.event,
      isHead: true,
      cell: ({ id, endpointId, eventType }) =>
        html`<a href=${`/console/webhooks/${encodeURIComponent(endpointId)}/${encodeURIComponent(id)}`}
          >${eventType}</a
        >`,
    },
    ...(withSubject
      ? [{ name: columns.subject, cell: ({ subjectId }: Delivery) => html`<${SubjectLink} id=${subjectId} />` }]
      : []),
    { name: columns.last, cell: lastAnswer },
    { name: columns.attempts, isNumber: true, cell: ({ attemptCount }) => String(attemptCount) },
    { name: columns.at, cell: ({ createdAt }) => html`<${Ago} at=${createdAt} />` },
    {
      name: columns.next,
      cell: ({ nextAttemptAt }) => (nextAttemptAt === undefined ? '–' : html`<${Due} at=${nextAttemptAt} />`),
    },
  ];
}

/** A time that has come is told as such: the next attempt begins with the next look. */
export function Due({ at }: { at: number }): VNode {
  const now = useNow();
  return at <= now ? html`<span>${words.due}</span>` : html`<${Ago} at=${at} />`;
}
