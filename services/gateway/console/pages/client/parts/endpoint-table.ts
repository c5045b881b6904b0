import type { Endpoint } from '../../../api/webhooks.ts';
import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { DataTable } from '../../../parts/data-table.ts';
import { Ago } from '../../../parts/time.ts';
import { webhooksWords as words } from '../words/webhooks.ts';
import { EndpointHealth } from './endpoint-health.ts';

/** The endpoint that stands for URLs of requests. */
export const DEFAULT_ENDPOINT = 'default';

export function EndpointTable({ endpoints }: { endpoints: readonly Endpoint[] }): VNode {
  const { columns } = words;
  return html`<${DataTable}
    caption=${words.caption}
    rows=${endpoints}
    keyOf=${({ id }: Endpoint) => id}
    empty=${words.none}
    columns=${[
      {
        name: columns.name,
        isHead: true,
        cell: (endpoint: Endpoint) =>
          html`<span class="lines">
            <a href=${`/console/webhooks/${encodeURIComponent(endpoint.id)}`}>${endpointName(endpoint)}</a>
            <span class="small quiet wrap">${endpoint.id === DEFAULT_ENDPOINT ? words.defaultText : endpoint.url}</span>
          </span>`,
      },
      { name: columns.health, cell: (endpoint: Endpoint) => html`<${EndpointHealth} endpoint=${endpoint} />` },
      {
        name: columns.events,
        cell: ({ eventTypes }: Endpoint) =>
          html`<span class="lines small">
            ${eventTypes.length === 0 ? '–' : null}${eventTypes.map((type) => html`<span key=${type}>${type}</span>`)}
          </span>`,
      },
      { name: columns.success, cell: ({ lastSuccessAt }: Endpoint) => agoOrNever(lastSuccessAt) },
      { name: columns.failure, cell: ({ lastFailureAt }: Endpoint) => agoOrNever(lastFailureAt) },
    ]}
  />`;
}

export function endpointName({ id, name }: Endpoint): string {
  if (id === DEFAULT_ENDPOINT) return words.defaultName;
  return name === '' ? id : name;
}

export function agoOrNever(at: number | undefined): VNode | string {
  return at === undefined ? words.never : html`<${Ago} at=${at} />`;
}
