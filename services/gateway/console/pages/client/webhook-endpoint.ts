import { useRef, useState } from 'preact/hooks';
import type { EndpointView, Endpoint } from '../../api/webhooks.ts';
import { useMe } from '../../state/door.ts';
import { useDueReads } from '../../state/use-due-reads.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { CopyButton } from '../../parts/copy-button.ts';
import { Loaded } from '../../parts/loaded.ts';
import { PageTitle } from '../../parts/page-title.ts';
import { SecretOnce } from '../../parts/secret-once.ts';
import { EndpointActs } from './parts/endpoint-acts.ts';
import { DeliveryFilter, EndpointDeliveries } from './parts/endpoint-deliveries.ts';
import { EndpointForm } from './parts/endpoint-form.ts';
import { DEFAULT_ENDPOINT, endpointName, agoOrNever } from './parts/endpoint-table.ts';
import { webhooksWords as words } from './webhooks-words.ts';
import { At } from '../../parts/time.ts';
import { EndpointHealth } from './parts/endpoint-health.ts';

const NONE: EndpointView['deliveries'] = [];

export function page({ params, query }: PageProps): VNode {
  const id = params['endpointId'] ?? '';
  const isAllowed = useMe().webhooks !== 'none';
  const own = new URLSearchParams([...query].filter(([name]) => name === 'state' || name === 'after'));
  const path = `/webhooks/${encodeURIComponent(id)}${own.size === 0 ? '' : `?${own.toString()}`}`;
  const view = useView<EndpointView>(isAllowed ? path : undefined, isAllowed ? ['webhooks'] : []);
  useDueReads(view.data?.deliveries ?? NONE, view.refresh);
  const shown = useKept(view.data);
  return html`
    <${Heading} id=${id} name=${shown === undefined ? id : endpointName(shown.endpoint)} />
    ${isAllowed ? null : html`<p class="note">${words.noRight}</p>`}
    ${shown === undefined ? null : html`<${EndpointHead} view=${shown} onChanged=${view.refresh} />`}
    ${
      isAllowed
        ? html`<section key=${shown === undefined ? 'unread' : 'read'}>
            ${shown === undefined ? null : html`<${DeliveriesTop} query=${query} />`}
            <${Loaded} view=${view}
              >${(read: EndpointView) => html`<${EndpointDeliveries} key=${path} view=${read} query=${query} />`}<//
            >
          </section>`
        : null
    }
  `;
}

/** Another page of deliveries changes nothing of the endpoint above them. */
function useKept<T>(data: T | undefined): T | undefined {
  const kept = useRef(data);
  kept.current = data ?? kept.current;
  return kept.current;
}

function Heading({ id, name }: { id: string; name: string }): VNode {
  const isOwn = id !== DEFAULT_ENDPOINT;
  return html`<${PageTitle}
    back=${{ href: '/console/webhooks', name: words.endpoint.back }}
    title=${isOwn && name !== id ? html`${name} <span class="id">${id}</span>` : name}
    beside=${isOwn ? html`<${CopyButton} text=${id} what=${words.endpoint.what} />` : null}
  />`;
}

function DeliveriesTop({ query }: { query: URLSearchParams }): VNode {
  return html`<h2>${words.deliveries.title}</h2>
    <p class="quiet small">${words.deliveries.kept}</p>
    <${DeliveryFilter} query=${query} />`;
}

/** Shows the state of an endpoint, and the acts on it. */
export function EndpointHead({ view, onChanged }: { view: EndpointView; onChanged: () => void }): VNode {
  const { endpoint, canChange, eventTypes } = view;
  const [isEditing, setEditing] = useState(false);
  const [secret, setSecret] = useState('');
  const edit = (is: boolean) => () => {
    setEditing(is);
  };
  const { title, ...told } = words.secret;
  const forget = (): void => {
    setSecret('');
  };
  return html`
    ${
      secret === ''
        ? null
        : html`<${SecretOnce} ...${told} title=${title(endpointName(endpoint))} secret=${secret} onDone=${forget} />`
    }
    ${
      isEditing
        ? html`<${EndpointForm}
            endpoint=${endpoint}
            eventTypes=${eventTypes}
            path=${`/v1/webhook_endpoints/${encodeURIComponent(endpoint.id)}`}
            submit=${words.form.save}
            onDone=${() => {
              setEditing(false);
              onChanged();
            }}
            onCancel=${edit(false)}
          />`
        : html`<${EndpointFacts} endpoint=${endpoint} />`
    }
    ${canChange ? null : html`<p class="quiet">${words.readOnly}</p>`}
    ${
      canChange && !isEditing
        ? html`<${EndpointActs}
            endpoint=${endpoint}
            onEdit=${edit(true)}
            onSecret=${setSecret}
            onChanged=${onChanged}
          />`
        : null
    }
  `;
}

/** The settings of an endpoint and its health. The secret is shown by its ends alone. */
function EndpointFacts({ endpoint }: { endpoint: Endpoint }): VNode {
  const { id, url, eventTypes, payload, secretHint, createdAt, lastSuccessAt, lastFailureAt } = endpoint;
  const { facts } = words.endpoint;
  return html`
    ${
      id === DEFAULT_ENDPOINT
        ? html`<p class="quiet">${words.defaultText}</p>`
        : html`<p class="endpoint-state"><${EndpointHealth} endpoint=${endpoint} isLong /></p>`
    }
    <dl class="facts">
      ${
        id === DEFAULT_ENDPOINT
          ? null
          : html`<dt>${facts.url}</dt>
              <dd>${url}</dd>
              <dt>${facts.events}</dt>
              <dd>${eventTypes.join(', ')}</dd>
              <dt>${facts.payload}</dt>
              <dd>${words.form.payloads[payload]}</dd>
              <dt>${facts.success}</dt>
              <dd>${agoOrNever(lastSuccessAt)}</dd>
              <dt>${facts.failure}</dt>
              <dd>${agoOrNever(lastFailureAt)}</dd>`
      }
      <dt>${facts.secret}</dt>
      <dd>${secretHint === '' ? words.endpoint.noSecret : html`<code>${secretHint}</code>`}</dd>
      ${
        createdAt === undefined
          ? null
          : html`<dt>${facts.created}</dt>
              <dd><${At} at=${createdAt} /></dd>`
      }
    </dl>
  `;
}
