import { firstIdAt } from '@reelgate/platform/ids';
import type { NewId } from '@reelgate/platform/ids';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { ClientEvent } from '../../../src/domain/webhook.ts';
import { sqlEventWrites } from '../../../src/store/webhooks/sql-events.ts';
import { sqlWebhooks } from '../../../src/store/webhooks/sql-webhooks.ts';
import type { WebhookStore } from '../../../src/store/webhook-store.ts';
import { modelDeliveryReads, modelResends, modelWebhookBacklog, modelWebhookRetention } from './model-deliveries.ts';
import { modelEndpoints } from './model-endpoints.ts';
import { modelEvents } from './model-events.ts';
import { modelAttempts, modelLeases } from './model-receivers.ts';
import type { WebhooksState } from './webhooks-state.ts';

/** The store of webhooks, and the write of an event in the transaction of another fact. */
export interface ModelledWebhooks extends WebhookStore {
  /** Writes an event as the end of a task or a job does. */
  writeEnd(event: Omit<ClientEvent, 'id'>): Promise<void>;
}

/** The port of webhooks in memory: what the contract says, in plain code. Lists without an order come in any order. */
export function modelWebhookStore(state: WebhooksState, process: string): ModelledWebhooks {
  return withTimedIds(process, (newId) => ({
    ...modelEndpoints(state),
    ...modelEvents(state, newId),
    ...modelLeases(state),
    ...modelAttempts(state),
    ...modelDeliveryReads(state),
    ...modelResends(state),
    ...modelWebhookRetention(state),
    ...modelWebhookBacklog(state),
    writeEnd: async (event) => {
      state.events.push({ ...event, id: newId('evt'), seq: undefined });
    },
  }));
}

/** Opens the store as a process does, with the ids of the model. */
export function newModelledWebhooks(sql: Sql, process: string): ModelledWebhooks {
  return withTimedIds(process, (newId) => {
    const writeEvent = sqlEventWrites(newId);
    return {
      ...sqlWebhooks(sql, newId),
      writeEnd: (event) => sql.transaction((query) => writeEvent(query, event)),
    };
  });
}

const TIME_LETTERS = 'whd_'.length + 10;

/**
 * A store whose ids tell the time of the call that makes them. They are the same on each engine: they name the process,
 * the number of the call and the number within it. A call may draw more ids than it uses.
 */
function withTimedIds(process: string, open: (newId: NewId) => ModelledWebhooks): ModelledWebhooks {
  let at = 0;
  let calls = 0;
  let made = 0;
  const begin = (now: number): void => {
    at = now;
    calls += 1;
    made = 0;
  };
  const store = open((prefix) => {
    made += 1;
    const rest = `${process}${String(calls).padStart(6, '0')}${String(made).padStart(6, '0')}`;
    return `${firstIdAt(prefix, at).slice(0, TIME_LETTERS)}vvv${rest}`;
  });
  return {
    ...store,
    dispatch: (options) => {
      begin(options.now);
      return store.dispatch(options);
    },
    writeEnd: (event) => {
      begin(event.createdAt);
      return store.writeEnd(event);
    },
  };
}
