import { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../exchange.ts';
import { PLAUSIBLE_ID } from './plausible-id.ts';

/** The parameter `{webhook_endpoint_id}` of a path. An impossible id is refused without a call. */
export function endpointIdOf({ params }: Exchange): string {
  const { webhook_endpoint_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw new Problem({ kind: 'not_found', reason: 'webhook_endpoint_not_found', message: 'no such webhook endpoint' });
}

/** The same for `{webhook_delivery_id}`. */
export function deliveryIdOf({ params }: Exchange): string {
  const { webhook_delivery_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw unknownDelivery();
}

export function unknownDelivery(): Problem {
  return new Problem({ kind: 'not_found', reason: 'webhook_delivery_not_found', message: 'no such webhook delivery' });
}
