import type {
  WebhookDelivery,
  WebhookDeliveryJson,
  WebhookEndpoint,
  WebhookEndpointJson,
} from '@reelgate/proto/tasks/v1/webhook';
import type { WholeJson } from './calls.ts';

/** A delivery with its attempts, which lists leave out. */
export type Delivery = WholeJson<WebhookDelivery, WebhookDeliveryJson>;
export type Attempt = Delivery['attempts'][number];
export type Endpoint = WholeJson<WebhookEndpoint, WebhookEndpointJson>;

/** GET /webhooks. */
export interface EndpointList {
  readonly endpoints: readonly Endpoint[];
  readonly eventTypes: readonly string[];
  readonly canChange: boolean;
}

/** GET /webhooks/{endpointId}. Query: `state`, `after`. */
export interface EndpointView {
  readonly endpoint: Endpoint;
  readonly deliveries: readonly Delivery[];
  readonly after?: string;
  readonly eventTypes: readonly string[];
  readonly canChange: boolean;
}

/** GET /webhooks/{endpointId}/{deliveryId}. */
export interface DeliveryView {
  readonly delivery: Delivery;
  readonly canChange: boolean;
}
// What changes endpoints and deliveries is the public API, at `/v1/webhook_endpoints…` below `/console/api`.
