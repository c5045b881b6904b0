import type { Bus } from '@reelgate/platform/bus/bus';
import type { OpenLogSync } from '@reelgate/platform/sql/sqlite-log-sync';
import { TaskFinishedSchema } from '@reelgate/proto/tasks/v1/task_events';
import type { OpenPool } from '@reelgate/tasks/app';
import type { Scheduler } from './scheduler.ts';

const SYNC_MS = 3;
/** Longer than a key is kept. */
const LONG_MS = 1_000_000_000_000;

/** A fault of the product, made by a port that does not keep its promise. */
export interface PlantedBug {
  readonly changeBus?: (bus: Bus) => Bus;
  readonly changeLogSync?: (openLog: OpenLogSync, scheduler: Scheduler) => OpenLogSync;
  readonly changePool?: (openPool: OpenPool) => OpenPool;
  readonly changeStatement?: (statement: string) => string;
}

/** The planted bugs, by the names that `--bug` takes. */
export const PLANTED_BUGS: Readonly<Record<string, PlantedBug>> = {
  /** Success is reported before the disk has the commit. */
  'unsynced-commits': {
    changeLogSync: (openLog, scheduler) => async (file) => {
      const { close } = await openLog(file);
      return { sync: () => scheduler.openClock(scheduler.current()).sleep(SYNC_MS), close };
    },
  },
  /** The event of the end of a task reaches billing never. Only the sweep settles. */
  'dropped-events': {
    changeBus: (bus) => ({
      ...bus,
      publish: async (schema, message, event) => {
        if (schema.typeName !== TaskFinishedSchema.typeName) await bus.publish(schema, message, event);
      },
    }),
  },
  /** An answer that was lost counts as an order that was never sent, so the next channel gets the order too. */
  'lost-answer-is-refusal': {
    changePool: (openPool) => (origin, connections) => {
      const pool = openPool(origin, connections);
      return {
        ...pool,
        dispatch: (request, handler) =>
          pool.dispatch(request, {
            onRequestStart: (controller, context) => handler.onRequestStart?.(controller, context),
            onResponseStart: (controller, status, headers) => handler.onResponseStart?.(controller, status, headers),
            onResponseData: (controller, part) => handler.onResponseData?.(controller, part),
            onResponseEnd: (controller, trailers) => handler.onResponseEnd?.(controller, trailers),
            onResponseError: (controller, error) => {
              const refused = Object.assign(new Error(error.message), { code: 'ECONNREFUSED' });
              handler.onResponseError?.(controller, refused);
            },
          }),
      };
    },
  },
  /** A key is forgotten as soon as its task is written. */
  'forgotten-keys': {
    changeStatement: (statement) =>
      statement
        .replace('FROM idempotency_keys WHERE account_id = ? AND key = ? AND expires_at > ?', `$& + ${LONG_MS}`)
        .replace('WHERE idempotency_keys.expires_at <= ?', `$& + ${LONG_MS}`),
  },
  /** The release of a hold moves the money, and leaves the hold open. */
  'open-holds': {
    changeStatement: (statement) =>
      statement.replace("UPDATE holds SET state = 'released'", "UPDATE holds SET state = 'open'"),
  },
};
