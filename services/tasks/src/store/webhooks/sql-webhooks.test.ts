import path from 'node:path';
import { newIds } from '@reelgate/platform/ids';
import { migrate } from '@reelgate/platform/sql/migrate';
import type { Sql } from '@reelgate/platform/sql/sql';
import { describeOnEngines } from '@reelgate/platform/testing/describe-on-engines';
import type { OpenSql } from '@reelgate/platform/testing/describe-on-engines';
import { describePooled } from '@reelgate/platform/testing/describe-pooled';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { webhookStoreConformance } from '../../../testing/webhook-store-conformance.ts';
import type { OpenedWebhooks } from '../../../testing/webhooks/opened-webhooks.ts';
import { sqlJobs } from '../jobs/sql-jobs.ts';
import { sqlTaskStore } from '../tasks/sql-task-store.ts';
import { sqlWebhooks } from './sql-webhooks.ts';

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
