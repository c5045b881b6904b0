import type { Delivery } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { taskWords } from '../../../words.ts';
import { DeliveryTable } from './delivery-table.ts';

const words = taskWords.webhooks;

export interface TaskWebhooksProps {
  readonly deliveries: readonly Delivery[];
  readonly maySee: boolean;
  readonly isUnavailable: boolean;
}

/** Shows the receivers that were told about the task, and their answers. */
export function TaskWebhooks({ deliveries, maySee, isUnavailable }: TaskWebhooksProps): VNode {
  const why = maySee ? words.unavailable : words.noRight;
  return html`<section>
    <h2>${words.title}</h2>
    ${
      !maySee || isUnavailable
        ? html`<p class="quiet">${why}</p>`
        : html`<${DeliveryTable} deliveries=${deliveries} empty=${words.none} withSubject=${false} />`
    }
  </section>`;
}
