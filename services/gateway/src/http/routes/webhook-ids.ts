import { Problem } from '@reelgate/platform/problem';
import type { Exchange } from '../exchange.ts';
import { PLAUSIBLE_ID } from './plausible-id.ts';

/** Reads the parameter `{webhook_endpoint_id}` of a path. Refuses an impossible id without a call. */
export function readEndpointId({ params }: Exchange): string {
  const { webhook_endpoint_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw new Problem({ kind: 'not_found', reason: 'webhook_endpoint_not_found', message: 'no such webhook endpoint' });
}

/** Reads the parameter `{webhook_delivery_id}` in the same way. */
export function readDeliveryId({ params }: Exchange): string {
  const { webhook_delivery_id: id = '' } = params;
  if (PLAUSIBLE_ID.test(id)) return id;
  throw unknownDelivery();
}

export function unknownDelivery(): Problem {
  return new Problem({ kind: 'not_found', reason: 'webhook_delivery_not_found', message: 'no such webhook delivery' });
}
