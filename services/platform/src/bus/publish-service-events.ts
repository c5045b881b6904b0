import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { ServiceEventSchema } from '@reelgate/proto/access/v1/service_event';
import type { TimeSource } from '../clock.ts';
import type { WarningLog } from '../log.ts';
import type { EventPublisher } from './bus.ts';

const MINUTE_MS = 60_000;

/** Something that happened and that no operator did. */
export interface ServiceEvent {
  readonly at: number;
  readonly type: string;
  readonly subject: string;
}

/**
 * Publishes the service events that operators read at the hand-over. The bus drops duplicates that several processes
 * send for the same minute.
 */
export async function publishServiceEvents(bus: EventPublisher, events: readonly ServiceEvent[]): Promise<void> {
  for (const { at, type, subject } of events)
    await bus.publish(
      ServiceEventSchema,
      create(ServiceEventSchema, { at: timestampFromMs(at), type, subject }),
      `${type} ${subject} ${Math.floor(at / MINUTE_MS)}`,
    );
}

interface PublishingParts {
  readonly bus: EventPublisher;
  readonly clock: TimeSource;
  readonly log: WarningLog;
}

/**
 * Publishes that a service has applied a configuration. The configuration is in use even if this cannot be published.
 */
export function publishConfigurationApplied({ bus, clock, log }: PublishingParts, service: string): void {
  const applied = { at: clock.now(), type: 'configuration_applied', subject: service };
  publishServiceEvents(bus, [applied]).catch((error: unknown) =>
    log.warn({ err: error }, 'an applied configuration was not announced to operators'),
  );
}
