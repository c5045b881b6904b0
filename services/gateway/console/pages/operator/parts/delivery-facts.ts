import type { Delivery } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { DataTable } from '../../../parts/data-table.ts';
import type { Column } from '../../../parts/data-table.ts';
import { Ago } from '../../../parts/time.ts';
import { DeliveryState } from '../../client/parts/delivery-state.ts';
import { lastAnswer } from '../../client/parts/delivery-table.ts';
import { operatorWords } from '../operator-words.ts';

const words = operatorWords.task;

const COLUMNS: readonly Column<Delivery>[] = [
  { name: words.state, cell: ({ state }) => html`<${DeliveryState} state=${state} />` },
  { name: words.event, isHead: true, cell: ({ eventType }) => eventType },
  { name: words.receiver, cell: ({ url }) => html`<span class="error-text">${url}</span>` },
  { name: words.lastAnswer, cell: lastAnswer },
  { name: words.tries, isNumber: true, cell: ({ attemptCount }) => attemptCount },
  { name: words.created, cell: ({ createdAt }) => html`<${Ago} at=${createdAt} />` },
];

/** Shows the deliveries about a task to the client's receivers. Operators have no page of a delivery. */
export function DeliveryFacts({ deliveries }: { deliveries: readonly Delivery[] }): VNode {
  return html`<${DataTable}
    caption=${words.webhooks}
    columns=${COLUMNS}
    rows=${deliveries}
    keyOf=${({ id }: Delivery) => id}
    empty=${words.noDeliveries}
  />`;
}
