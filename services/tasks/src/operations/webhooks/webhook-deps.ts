import type { Clock } from '@reelgate/platform/clock';
import type { NewId } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import type { WebhookSender } from '../../clients/media.ts';
import type { DisabledReason } from '../../domain/webhook.ts';
import type { WebhookStore } from '../../store/webhook-store.ts';
import type { AnnounceDispatched } from './dispatch-events.ts';
import type { Sealer, WebhookSecrets } from './secrets.ts';

/** The dependencies of the operations on webhooks and events. */
export interface WebhookDeps {
  readonly webhooks: WebhookStore;
  readonly secrets: WebhookSecrets;
  readonly sealer: Sealer;
  readonly sender: WebhookSender;
  readonly clock: Clock;
  readonly newId: NewId;
  /** A random number from 0 to 1, exclusive. */
  readonly chance: () => number;
  readonly log: Log;
  readonly limits: WebhookLimits;
  /** Receivers as `host:port` that need neither https nor a public host. */
  readonly allow: ReadonlySet<string>;
  readonly announceDispatched: AnnounceDispatched;
  readonly count: WebhookCounts;
}

export interface WebhookLimits {
  readonly endpointsPerAccount: number;
  /** The time in milliseconds for which events, deliveries and attempts are kept. */
  readonly retentionMs: number;
}

/** The counters that operators watch. */
export interface WebhookCounts {
  readonly endpointDisabled: (reason: DisabledReason) => void;
}
