/** A delivery with its attempts. */
export interface Delivery {
  readonly id: string;
  /** `default`: the request carried the URL. */
  readonly endpointId: string;
  readonly url: string;
  readonly eventId: string;
  readonly eventType: string;
  /** A task, a job or an account. */
  readonly subjectId: string;
  readonly state: 'pending' | 'delivered' | 'failed';
  readonly attemptCount: number;
  readonly lastStatus?: number;
  readonly lastError?: string;
  readonly createdAt: number;
  readonly nextAttemptAt?: number;
  readonly endedAt?: number;
  /** Left out in lists. */
  readonly attempts: readonly Attempt[];
}

export interface Attempt {
  readonly number: number;
  readonly at: number;
  readonly durationMs: number;
  /** Undefined if the receiver did not answer. */
  readonly status?: number;
  /** Undefined if the attempt succeeded. */
  readonly error?: string;
  readonly requestHeaders: Readonly<Record<string, string>>;
  /** The first 2 KiB of the answer. */
  readonly answer: string;
}

export interface Endpoint {
  readonly id: string;
  readonly name: string;
  readonly url: string;
  readonly eventTypes: readonly string[];
  readonly payload: 'thin' | 'full';
  readonly secretHint: string;
  readonly createdAt?: number;
  readonly disabledAt?: number;
  readonly disabledReason?: string;
  readonly lastSuccessAt?: number;
  readonly lastFailureAt?: number;
  readonly failingSince?: number;
}

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
