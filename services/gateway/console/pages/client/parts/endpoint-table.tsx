import type { VNode } from 'preact';
import type { Endpoint } from '../../../api/webhooks.ts';
import { readTime } from '../../../parts/contract-values.ts';
import { DataTable } from '../../../parts/data-table.tsx';
import { EmptyState } from '../../../parts/empty-state.tsx';
import { Ago, durationText, useNow } from '../../../parts/time.tsx';
import { webhooksWords as words } from '../webhooks-words.ts';

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

/** Shows whether deliveries arrive, by a word and a shape; if they do not, since when and why not. */
export function EndpointHealth({ endpoint, isLong = false }: { endpoint: Endpoint; isLong?: boolean }): VNode {
  const { disabledAt, disabledReason, failingSince, lastSuccessAt, lastFailureAt } = endpoint;
  if (disabledAt !== undefined) return renderDisabled(readTime(disabledAt), disabledReason, isLong);
  if (failingSince !== undefined)
    return (
      <span class="lines">
        <span class="state failed">
          <Shape of="✕" /> <FailingFor since={readTime(failingSince)} />
        </span>
        {isLong ? <span class="small quiet">{words.health.failingEnd}</span> : null}
      </span>
    );
  return lastSuccessAt === undefined && lastFailureAt === undefined ? (
    <span class="state">
      <Shape of="○" /> {words.health.unused}
    </span>
  ) : (
    <span class="state completed">
      <Shape of="●" /> {words.health.well}
    </span>
  );
}

/** Shows a disabled endpoint. One that a person disabled is not shown as failed. */
function renderDisabled(at: number, reason: string, isLong: boolean): VNode {
  const reasons: Readonly<Record<string, string>> = words.health.reasons;
  return (
    <span class="lines">
      <span class={reason === 'by_owner' ? 'state' : 'state failed'}>
        <Shape of="■" /> {words.health.disabled} <Ago at={at} />
      </span>
      <span class="small quiet">
        {reasons[reason] ?? reason} {isLong ? words.health.silent : null}
      </span>
    </span>
  );
}

function Shape({ of }: { of: string }): VNode {
  return <span aria-hidden="true">{of}</span>;
}

function FailingFor({ since }: { since: number }): VNode {
  return <span>{words.health.failing(durationText(useNow() - since))}</span>;
}
