import type { Implementation } from '@reelgate/platform/rpc/service';
import type { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import type { WebhookDeps } from '../operations/webhooks/webhook-deps.ts';
import { deliveryMethods } from './webhook-delivery-methods.ts';
import type { DeliveryMethodDeps } from './webhook-delivery-methods.ts';
import { endpointMethods } from './webhook-endpoint-methods.ts';

export function webhookService(deps: WebhookDeps & DeliveryMethodDeps): Implementation<typeof WebhookService> {
  return { ...endpointMethods(deps), ...deliveryMethods(deps) };
}
