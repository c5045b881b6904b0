import type { VNode } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { EndpointView, Endpoint, Delivery } from '../../api/webhooks.ts';
import { useMe } from '../../state/door.ts';
import { useDueReads } from '../../state/use-due-reads.ts';
import { useView } from '../../state/use-view.ts';
import type { PageProps } from '../../frame.tsx';
import { readTime, readWord } from '../../parts/contract-values.ts';
import { CopyButton } from '../../parts/copy-button.tsx';
import { Facts } from '../../parts/data-table.tsx';
import type { Fact } from '../../parts/data-table.tsx';
import { Loaded } from '../../parts/loaded.tsx';
import { PageTitle } from '../../parts/page-title.tsx';
import { SecretOnce } from '../../parts/secret-once.tsx';
import { EndpointActs } from './parts/endpoint-acts.tsx';
import { EndpointForm } from './parts/endpoint-form.tsx';
import { DEFAULT_ENDPOINT, endpointName, agoOrNever, EndpointHealth } from './parts/endpoint-table.tsx';
import { webhooksWords as words } from './webhooks-words.ts';
import { At } from '../../parts/time.tsx';
import { setQuery } from '../../state/address.ts';
import { useSteadyRows } from '../../state/steady-rows.ts';
import { NewRows, Pager } from '../../parts/pager.tsx';
import { SelectField } from '../../parts/select-field.tsx';
import { deliveryWords } from '../../parts/delivery-words.ts';
import { DeliveryTable } from './parts/delivery-table.tsx';

const NONE: EndpointView['deliveries'] = [];

export function page({ params, query }: PageProps): VNode {
  const id = params['endpointId'] ?? '';
  const isAllowed = useMe().webhooks !== 'none';
  const own = new URLSearchParams([...query].filter(([name]) => name === 'state' || name === 'after'));
  const path = `/webhooks/${encodeURIComponent(id)}${own.size === 0 ? '' : `?${own.toString()}`}`;
  const view = useView<EndpointView>(isAllowed ? path : undefined, isAllowed ? ['webhooks'] : []);
  useDueReads(view.data?.deliveries ?? NONE, view.refresh);
  const shown = useKept(view.data);
  return (
    <>
      <Heading id={id} name={shown === undefined ? id : endpointName(shown.endpoint)} />
      {isAllowed ? null : <p class="note">{words.noRight}</p>}
      {shown === undefined ? null : <EndpointHead view={shown} onChanged={view.refresh} />}
      {isAllowed ? (
        <section key={shown === undefined ? 'unread' : 'read'}>
          {shown === undefined ? null : <DeliveriesTop query={query} />}
          <Loaded view={view}>{(read) => <EndpointDeliveries key={path} view={read} query={query} />}</Loaded>
        </section>
      ) : null}
    </>
  );
}

/** Another page of deliveries leaves the endpoint above them as it is. */
function useKept<T>(data: T | undefined): T | undefined {
  const kept = useRef(data);
  kept.current = data ?? kept.current;
  return kept.current;
}

function Heading({ id, name }: { id: string; name: string }): VNode {
  const isOwn = id !== DEFAULT_ENDPOINT;
  return (
    <PageTitle
      back={{ href: '/console/webhooks', name: words.endpoint.back }}
      title={name}
      id={isOwn && name !== id ? id : undefined}
      beside={isOwn ? <CopyButton text={id} what={words.endpoint.what} /> : null}
    />
  );
}

function DeliveriesTop({ query }: { query: URLSearchParams }): VNode {
  return (
    <>
      <h2>{words.deliveries.title}</h2>
      <p class="quiet small">{words.deliveries.kept}</p>
      <DeliveryFilter query={query} />
    </>
  );
}

/** Shows the state of an endpoint, and the acts on it. */
export function EndpointHead({ view, onChanged }: { view: EndpointView; onChanged: () => void }): VNode {
  const { endpoint, canChange, eventTypes } = view;
  const [isEditing, setEditing] = useState(false);
  const [secret, setSecret] = useState('');
  const edit = (is: boolean) => () => setEditing(is);
  const { title, ...told } = words.secret;
  const forget = (): void => setSecret('');
  return (
    <>
      {secret === '' ? null : (
        <SecretOnce {...told} title={title(endpointName(endpoint))} secret={secret} onDone={forget} />
      )}
      {isEditing ? (
        <EndpointForm
          endpoint={endpoint}
          eventTypes={eventTypes}
          path={`/v1/webhook_endpoints/${encodeURIComponent(endpoint.id)}`}
          submit={words.form.save}
          onDone={() => {
            setEditing(false);
            onChanged();
          }}
          onCancel={edit(false)}
        />
      ) : (
        <EndpointFacts endpoint={endpoint} />
      )}
      {canChange ? null : <p class="quiet">{words.readOnly}</p>}
      {canChange && !isEditing ? (
        <EndpointActs endpoint={endpoint} onEdit={edit(true)} onSecret={setSecret} onChanged={onChanged} />
      ) : null}
    </>
  );
}

/** The settings of an endpoint and its health. The secret is shown by its ends alone. */
function EndpointFacts({ endpoint }: { endpoint: Endpoint }): VNode {
  const { id, url, eventTypes, payload, secretHint, createdAt, lastSuccessAt, lastFailureAt } = endpoint;
  const { facts } = words.endpoint;
  const own: readonly Fact[] = [
    [facts.url, url],
    [facts.events, eventTypes.join(', ')],
    [facts.payload, words.form.payloads[readWord('WEBHOOK_PAYLOAD_', payload)]],
    [facts.success, agoOrNever(lastSuccessAt)],
    [facts.failure, agoOrNever(lastFailureAt)],
  ];
  return (
    <>
      {id === DEFAULT_ENDPOINT ? (
        <p class="quiet">{words.defaultText}</p>
      ) : (
        <p class="endpoint-state">
          <EndpointHealth endpoint={endpoint} isLong />
        </p>
      )}
      <Facts
        facts={[
          ...(id === DEFAULT_ENDPOINT ? [] : own),
          [facts.secret, secretHint === '' ? words.endpoint.noSecret : <code>{secretHint}</code>],
          ...(createdAt === undefined ? [] : [[facts.created, <At at={readTime(createdAt)} />] as const]),
        ]}
      />
    </>
  );
}

/** The filter is there before the deliveries are. */
function DeliveryFilter({ query }: { query: URLSearchParams }): VNode {
  const { states } = deliveryWords;
  const options = [
    { value: '', name: words.deliveries.all },
    ...(['pending', 'delivered', 'failed'] as const).map((value) => ({ value, name: states[value] })),
  ];
  return (
    <div class="filters">
      <SelectField
        label={words.deliveries.state}
        value={query.get('state') ?? ''}
        options={options}
        onChange={(state) => setQuery({ state, after: '' })}
      />
    </div>
  );
}

/** Shows the deliveries to an endpoint, the newest first. */
export function EndpointDeliveries({ view, query }: { view: EndpointView; query: URLSearchParams }): VNode {
  const { shown, waiting, accept } = useSteadyRows(view.deliveries, ({ id }: Delivery) => id);
  const isWhole = !query.has('state') && !query.has('after');
  return (
    <>
      <NewRows count={query.has('after') ? 0 : waiting} onAccept={accept} />
      <DeliveryTable
        deliveries={shown}
        empty={isWhole ? words.deliveries.noneYet : words.deliveries.none}
        withSubject
      />
      <Pager path={`/console/webhooks/${encodeURIComponent(view.endpoint.id)}`} query={query} after={view.after} />
    </>
  );
}
