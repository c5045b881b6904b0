import { DiscardPolicy, NatsError, RetentionPolicy, StorageType, nanos } from 'nats';
import type { JetStreamManager, StreamConfig } from 'nats';
import { newStreamLimits } from './bus-settings.ts';
import type { BusSettings } from './bus-settings.ts';
import type { Log } from '../log.ts';

export const STREAM = 'REELGATE';
const SUBJECTS = ['reelgate.>'];
const DUPLICATE_WINDOW_MS = 120_000;
const NOT_FOUND = 404;

/**
 * Creates the stream, or gives it the limits of the settings. A full stream drops its oldest events, so that it never
 * refuses a new one. The sweeps find the events that were dropped unread. If the server refuses other limits, the
 * stream keeps its own.
 */
export async function ensureStream(manager: JetStreamManager, settings: BusSettings, log: Log): Promise<void> {
  const found = await readStreamConfig(manager);
  if (found === undefined) {
    const limits = newStreamLimits(settings);
    await manager.streams.add({
      name: STREAM,
      subjects: SUBJECTS,
      retention: RetentionPolicy.Limits,
      storage: StorageType.File,
      discard: DiscardPolicy.Old,
      duplicate_window: nanos(DUPLICATE_WINDOW_MS),
      max_age: nanos(limits.maxAgeMs),
      max_bytes: limits.maxBytes,
      num_replicas: limits.replicas,
    });
    return;
  }
  const changes = findLimitChanges(found, settings);
  if (Object.keys(changes).length === 0) return;
  try {
    await manager.streams.update(STREAM, { ...found, ...changes });
    log.warn({ stream: STREAM, changes }, 'the stream has new limits');
  } catch (error) {
    log.error(
      { stream: STREAM, changes, err: error },
      'the server refuses these limits of the stream; the old ones stay',
    );
  }
}

/** Compares only the limits that the settings name. */
function findLimitChanges(found: StreamConfig, { replicas, maxAgeMs, maxBytes }: BusSettings): Partial<StreamConfig> {
  return {
    ...(replicas === undefined || replicas === found.num_replicas ? {} : { num_replicas: replicas }),
    ...(maxAgeMs === undefined || nanos(maxAgeMs) === found.max_age ? {} : { max_age: nanos(maxAgeMs) }),
    ...(maxBytes === undefined || maxBytes === found.max_bytes ? {} : { max_bytes: maxBytes }),
  };
}

async function readStreamConfig(manager: JetStreamManager): Promise<StreamConfig | undefined> {
  try {
    return (await manager.streams.info(STREAM)).config;
  } catch (error) {
    if (error instanceof NatsError && error.api_error?.code === NOT_FOUND) return undefined;
    throw error;
  }
}
