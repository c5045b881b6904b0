import type { VNode } from 'preact';
import type { Endpoint } from '../../../api/webhooks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { Ago } from '../../../parts/time.tsx';
import { webhooksWords as words } from '../webhooks-words.ts';
import { EndpointHealth } from './endpoint-health.tsx';

/** The endpoint that stands for URLs of requests. */
export const DEFAULT_ENDPOINT = 'default';

export function EndpointTable({ endpoints }: { endpoints: readonly Endpoint[] }): VNode {
  const { columns } = words;
  return (
    <div class="endpoint-table">
      <DataTable
        caption={words.caption}
        rows={endpoints}
        keyOf={({ id }) => id}
        empty={<EmptyState title={words.none.title} text={words.none.text} />}
        columns={[
          {
            name: columns.name,
            isHead: true,
            cell: (endpoint: Endpoint) => (
              <span class="lines">
                <a href={`/console/webhooks/${encodeURIComponent(endpoint.id)}`}>{endpointName(endpoint)}</a>
                <span class="small quiet wrap">
                  {endpoint.id === DEFAULT_ENDPOINT ? words.defaultText : endpoint.url}
                </span>
              </span>
            ),
          },
          // several receivers share it, so it has no health of its own
          {
            name: columns.health,
            cell: (endpoint: Endpoint) =>
              endpoint.id === DEFAULT_ENDPOINT ? words.notTold : <EndpointHealth endpoint={endpoint} />,
          },
          {
            name: columns.events,
            cell: ({ id, eventTypes }: Endpoint) =>
              id === DEFAULT_ENDPOINT ? (
                words.notTold
              ) : (
                <span class="lines small">
                  {eventTypes.map((type) => (
                    <span key={type}>{type}</span>
                  ))}
                </span>
              ),
          },
          { name: columns.success, cell: ({ id, lastSuccessAt }: Endpoint) => renderTime(id, lastSuccessAt) },
          { name: columns.failure, cell: ({ id, lastFailureAt }: Endpoint) => renderTime(id, lastFailureAt) },
        ]}
      />
    </div>
  );
}

export function endpointName({ id, name }: Endpoint): string {
  if (id === DEFAULT_ENDPOINT) return words.defaultName;
  return name === '' ? id : name;
}

export function agoOrNever(at: string | undefined): VNode | string {
  return at === undefined ? words.never : <Ago at={readTime(at)} />;
}

function renderTime(id: string, at: string | undefined): VNode | string {
  return id === DEFAULT_ENDPOINT ? words.notTold : agoOrNever(at);
}
