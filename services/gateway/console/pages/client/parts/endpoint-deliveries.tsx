import type { VNode } from 'preact';
import type { Delivery, EndpointView } from '../../../api/webhooks.ts';
import { setQuery } from '../../../state/address.ts';
import { useSteadyRows } from '../../../state/steady-rows.ts';
import { NewRows, Pager } from '../../../parts/pager.tsx';
import { SelectField } from '../../../parts/select-field.tsx';
import { deliveryWords } from '../../../parts/delivery-words.ts';
import { webhooksWords } from '../webhooks-words.ts';
import { DeliveryTable } from './delivery-table.tsx';

const words = webhooksWords.deliveries;

/** The filter is there before the deliveries are. */
export function DeliveryFilter({ query }: { query: URLSearchParams }): VNode {
  const { states } = deliveryWords;
  const options = [
    { value: '', name: words.all },
    ...(['pending', 'delivered', 'failed'] as const).map((value) => ({ value, name: states[value] })),
  ];
  return (
    <div class="filters">
      <SelectField
        label={words.state}
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
      <DeliveryTable deliveries={shown} empty={isWhole ? words.noneYet : words.none} withSubject />
      <Pager path={`/console/webhooks/${encodeURIComponent(view.endpoint.id)}`} query={query} after={view.after} />
    </>
  );
}
