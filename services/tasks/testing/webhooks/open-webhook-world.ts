import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach } from '@jest/globals';
import { newIds, systemRandom } from '@reelgate/platform/ids';
import type { Log } from '@reelgate/platform/log';
import { Secret, acceptOnly } from '@reelgate/platform/secret';
import type { AcceptedKeys } from '@reelgate/platform/secret';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import { WebhookPayload } from '@reelgate/proto/tasks/v1/webhook';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import type { WebhookAnswer, WebhookRequest } from '../../src/clients/media.ts';
import type { createEndpoint } from '../../src/operations/webhooks/manage-endpoints.ts';
import { sealer, webhookSecrets } from '../../src/operations/webhooks/secrets.ts';
import type { WebhookDeps, WebhookLimits } from '../../src/operations/webhooks/webhook-deps.ts';
import { sqlWebhooks } from '../../src/store/webhooks/sql-webhooks.ts';

const MIGRATIONS = path.join(import.meta.dirname, '../../migrations');
export const SIGNING_KEY = new Secret('the signing key of the tests');
const LIMITS: WebhookLimits = { endpointsPerAccount: 20, retentionMs: 30 * 24 * 3_600_000 };

/** The operations on webhooks on a real SQLite store. */
export interface WebhookWorld {
  readonly deps: WebhookDeps;
  readonly sql: Sql;
  readonly clock: FakeClock;
  /** What was sent, and what receivers answer. */
  readonly sent: readonly WebhookRequest[];
  answer: WebhookAnswer;
  /** Every line of the log. */
  readonly lines: readonly string[];
  /** The announcements and the counts, in their order. */
  readonly told: readonly string[];
  /** The same store with other signing keys. */
  withKeys(keys: AcceptedKeys): WebhookDeps;
}

type NewEndpoint = Parameters<typeof createEndpoint>[1];

export function aNewEndpoint(changes: Partial<NewEndpoint> = {}): NewEndpoint {
  return {
    accountId: 'acme',
    name: 'ends',
    url: 'https://hooks.example/ends',
    eventTypes: ['video.completed', 'video.failed'],
    payload: WebhookPayload.THIN,
    ...changes,
  };
}

/** Opens worlds that are closed and removed after the test. */
export function useWebhookWorlds(): (options?: {
  readonly limits?: Partial<WebhookLimits>;
  readonly allow?: readonly string[];
}) => Promise<WebhookWorld> {
  const ends: (() => Promise<void>)[] = [];
  afterEach(async () => {
    for (const end of ends.splice(0).reverse()) await end();
  });
  return async ({ limits = {}, allow = [] } = {}) => {
    const dataDir = mkdtempSync(path.join(tmpdir(), 'reelgate-webhooks-'));
    const sql = await openSql({ url: undefined, dataDir, name: 'tasks', migrations: MIGRATIONS });
    ends.push(async () => {
      await sql.close();
      rmSync(dataDir, { recursive: true });
    });
    const clock = fakeClock();
    const newId = newIds(clock);
    const webhooks = sqlWebhooks(sql, newId);
    const { log, lines } = keptLines();
    const sent: WebhookRequest[] = [];
    const told: string[] = [];
    const withKeys = (keys: AcceptedKeys): WebhookDeps => {
      const sealing = sealer(keys, systemRandom);
      return {
        webhooks,
        sealer: sealing,
        secrets: webhookSecrets({ webhooks, sealer: sealing, random: systemRandom, clock, log }),
        sender: {
          send: async (request) => {
            sent.push(request);
            return world.answer;
          },
        },
        clock,
        newId,
        chance: () => 0.5,
        log,
        limits: { ...LIMITS, ...limits },
        allow: new Set(allow),
        announceDispatched: ({ deliveriesDue }) => void told.push(deliveriesDue ? 'dispatched' : 'nothing due'),
        count: { endpointDisabled: (reason) => void told.push(`disabled ${reason}`) },
      };
    };
    const deps = withKeys(acceptOnly(SIGNING_KEY));
    const world: WebhookWorld = { deps, sql, clock, sent, answer: { status: 204 }, lines, told, withKeys };
    return world;
  };
}

function keptLines(): { readonly log: Log; readonly lines: readonly string[] } {
  const lines: string[] = [];
  const keep = (fields: object, message: string): void => void lines.push(`${message} ${JSON.stringify(fields)}`);
  const log: Log = {
    debug: keep,
    info: keep,
    warn: keep,
    error: keep,
    access: (_line, fields, message) => keep(fields, message),
    child: () => log,
  };
  return { log, lines };
}
