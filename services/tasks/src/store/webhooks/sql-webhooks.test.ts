import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines, describePooled } from '../../../testing/store/describe-on-engines.ts';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { describe } from '@jest/globals';
import type { OpenedWebhooks, OpenWebhooks } from '../../../testing/webhooks/opened-webhooks.ts';
import { sqlJobs } from '../jobs/sql-jobs.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import { sqlWebhooks } from './sql-webhooks.ts';
import { attemptsConformance } from '../../../testing/webhooks/attempts-conformance.ts';
import { deliveriesConformance } from '../../../testing/webhooks/deliveries-conformance.ts';
import { dispatchConformance } from '../../../testing/webhooks/dispatch-conformance.ts';
import { endpointsConformance } from '../../../testing/webhooks/endpoints-conformance.ts';
import { eventsConformance } from '../../../testing/webhooks/events-conformance.ts';
import { leasesConformance } from '../../../testing/webhooks/leases-conformance.ts';
import { webhookRetentionConformance } from '../../../testing/webhooks/webhook-retention-conformance.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

const suite = (open: OpenSql): void => {
  const ids = newIds(fakeClock());
  const on = (sql: Sql, newId = ids): ReturnType<OpenedWebhooks['on']> => ({
    store: sqlWebhooks(sql, newId),
    tasks: sqlTaskStore(sql, newId, () => ({ type: 'finished', payload: '{}' })),
    jobs: sqlJobs(sql, newId),
  });

  webhookStoreConformance(async () => {
    const sql = open();
    await migrate(sql, MIGRATIONS);
    return { ...on(sql), other: on(open()).store, sql, on };
  });
};

describeOnEngines('the webhook store', suite);
describePooled('the webhook store', suite);

/** The guarantees of every webhook store. */
function webhookStoreConformance(open: OpenWebhooks): void {
  describe('endpoints and secrets', () => endpointsConformance(open));
  describe('events', () => eventsConformance(open));
  describe('the dispatch', () => dispatchConformance(open));
  describe('leases', () => leasesConformance(open));
  describe('attempts', () => attemptsConformance(open));
  describe('deliveries', () => deliveriesConformance(open));
  describe('retention and backlogs', () => webhookRetentionConformance(open));
}
