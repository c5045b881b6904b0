import { useState } from 'preact/hooks';
import type { Delivery, EndpointView } from '../../api/webhooks.ts';
import { setQuery } from '../../data/address.ts';
import { useRefreshWhile } from '../../data/refresh-while.ts';
import { serverNow } from '../../data/server-clock.ts';
import { useSteadyRows } from '../../data/steady-rows.ts';
import { useView } from '../../data/use-view.ts';
import type { PageProps } from '../../frame.ts';
import { html } from '../../html.ts';
import type { VNode } from '../../html.ts';
import { Loaded } from '../../parts/loaded.ts';
import { NewRows } from '../../parts/new-rows.ts';
import { Pager } from '../../parts/pager.ts';
import { SecretOnce } from '../../parts/secret-once.ts';
import { SelectField } from '../../parts/select-field.ts';
import { DeliveryTable } from './parts/delivery-table.ts';
import { isDueSoon } from './parts/due-soon.ts';
import { EndpointActs } from './parts/endpoint-acts.ts';
import { EndpointFacts } from './parts/endpoint-facts.ts';
import { EndpointForm } from './parts/endpoint-form.ts';
import { endpointName } from './parts/endpoint-table.ts';
import { deliveryWords } from './words/deliveries.ts';
import { webhooksWords as words } from './words/webhooks.ts';

export function page({ params, query }: PageProps): VNode {
  const id = params['endpointId'] ?? '';
  const own = new URLSearchParams([...query].filter(([name]) => name === 'state' || name === 'after'));
  const path = `/webhooks/${encodeURIComponent(id)}${own.size === 0 ? '' : `?${own.toString()}`}`;
  const view = useView<EndpointView>(path, ['webhooks']);
  return html`
    <p class="above"><a href="/console/webhooks">${words.endpoint.back}</a></p>
    <h1>${words.endpoint.title}</h1>
    <${Loaded} view=${view}>
      ${(shown: EndpointView) => html`<${EndpointPage} view=${shown} query=${query} onChanged=${view.refresh} />`}
    <//>
  `;
}

export interface EndpointPageProps {
  readonly view: EndpointView;
  readonly query: URLSearchParams;
  readonly onChanged: () => void;
}

/** How an endpoint fares, what can be done with it, and what was sent to it. */
export function EndpointPage({ view, query, onChanged }: EndpointPageProps): VNode {
  const { endpoint, canChange, eventTypes } = view;
  const [isEditing, setEditing] = useState(false);
  const [secret, setSecret] = useState('');
  useRefreshWhile(
    view.deliveries.some((delivery) => isDueSoon(delivery, serverNow())),
    onChanged,
  );
  return html`
    ${
      secret === ''
        ? null
        : html`<${SecretOnce}
            title=${words.secret.title(endpointName(endpoint))}
            text=${words.secret.text}
            secret=${secret}
            what=${words.secret.what}
            done=${words.secret.done}
            onDone=${() => {
              setSecret('');
            }}
          />`
    }
    <h2>${endpointName(endpoint)}</h2>
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
            onCancel=${() => {
              setEditing(false);
            }}
          />`
        : html`<${EndpointFacts} endpoint=${endpoint} />`
    }
    ${
      canChange && !isEditing
        ? html`<${EndpointActs}
            endpoint=${endpoint}
            onEdit=${() => {
              setEditing(true);
            }}
            onSecret=${setSecret}
            onChanged=${onChanged}
          />`
        : null
    }
    <${Deliveries} view=${view} query=${query} />
  `;
}

function Deliveries({ view, query }: Omit<EndpointPageProps, 'onChanged'>): VNode {
  const { shown, waiting, accept } = useSteadyRows(view.deliveries, ({ id }: Delivery) => id);
  const { states } = deliveryWords;
  const options = [
    { value: '', name: words.deliveries.all },
    ...(['pending', 'delivered', 'failed'] as const).map((value) => ({ value, name: states[value] })),
  ];
  return html`<section>
    <h2>${words.deliveries.title}</h2>
    <p class="quiet small">${words.deliveries.kept}</p>
    <div class="filters">
      <${SelectField}
        label=${words.deliveries.state}
        value=${query.get('state') ?? ''}
        options=${options}
        onChange=${(state: string) => {
          setQuery({ state, after: '' });
        }}
      />
    </div>
    <${NewRows} count=${query.has('after') ? 0 : waiting} onAccept=${accept} />
    <${DeliveryTable} deliveries=${shown} empty=${words.deliveries.none} withSubject=${true} />
    <${Pager} path=${`/console/webhooks/${encodeURIComponent(view.endpoint.id)}`} query=${query} after=${view.after} />
  </section>`;
}
