import { createHash } from 'node:crypto';
import { systemClock } from '@reelgate/platform/clock';
import { billingAuthenticate } from '@reelgate/gateway/clients/billing-client';
import { cachePrincipals } from '@reelgate/gateway/operations/principals';
import { callOrder, usedTokens } from '../../../services/billing/testing/call-orders.ts';
import { KEY, order } from '../../../services/billing/testing/open-billing.ts';
import { postgresServer } from '../../servers/postgres-server.ts';
import { byTurns, ROUNDS } from '../load.ts';
import type { Line } from '../table.ts';
import { postgresEngine, sqliteEngine } from './engines.ts';
import type { Engine } from './engines.ts';
import { workFor } from './work.ts';
import type { Work } from './work.ts';

const ROUND_MS = 1500;
const AT_ONCE = 64;
const BATCHES_AT_ONCE = 3;

/**
 * Money on both engines: holds, settlements, calls in batches, token look-ups. The baseline of each figure is the least
 * work that the engine could do.
 */
export async function billingBench(): Promise<readonly Line[]> {
  const lines = await ofEngine(await sqliteEngine());
  const postgres = await postgresEngine();
  if (postgres === undefined)
    return [
      ...lines,
      { what: 'billing on PostgreSQL', skipped: postgresServer.missing() ?? 'PostgreSQL did not start' },
    ];
  return [...lines, ...(await ofEngine(postgres))];
}

async function ofEngine(engine: Engine): Promise<readonly Line[]> {
  try {
    return [
      ...(await holds(engine)),
      ...(await calls(engine, 32)),
      ...(await calls(engine, 128)),
      ...(await authentications(engine)),
    ];
  } finally {
    await engine.end();
  }
}

const number = { next: 0 };

/** An id that sorts by time, like the ids of the service. */
function newId(prefix: string): string {
  number.next += 1;
  return `${prefix}_${String(number.next).padStart(26, '0')}`;
}

/** A hold is five writes in one transaction. The baseline is one write. */
async function holds({ name, on, bare }: Engine): Promise<readonly Line[]> {
  const placed: string[] = [];
  const bareWrite = async (): Promise<number> => {
    await bare.write('INSERT INTO bare (id, account_id, amount_nanos, facts, placed_at) VALUES ($1, $2, $3, $4, $5)', [
      newId('bare'),
      'demo',
      1,
      '{"seconds":5}',
      1,
    ]);
    return 1;
  };
  const hold = async (): Promise<number> => {
    const taskId = newId('task');
    await on.billing.placeHold(order(on, taskId, { seconds: 5n }));
    placed.push(taskId);
    return 1;
  };
  const settle = async (): Promise<number> => {
    const taskId = placed.pop();
    if (taskId === undefined) return 0;
    await on.billing.settleHold({ taskId, totalSeconds: 5n });
    return 1;
  };
  const held = await against(bareWrite, hold, AT_ONCE);
  const settled = await against(bareWrite, settle, AT_ONCE);
  return [
    { what: `holds, ${name} (baseline: one row)`, figure: held.product, baseline: held.baseline, unit: '/s' },
    {
      what: `settlements, ${name} (baseline: one row)`,
      figure: settled.product,
      baseline: settled.baseline,
      unit: '/s',
    },
  ];
}

/** Holds and settles batches. The baseline inserts as many rows in one statement and updates them in another. */
async function calls({ name, on, bare }: Engine, size: number): Promise<readonly Line[]> {
  const cells = Array.from({ length: size }, (_, row) => `($${row + 1}, 'demo', 1, '{"inputTokens":1000}', 1)`).join(
    ', ',
  );
  const ids = (prefix: string): string[] => Array.from({ length: size }, () => newId(prefix));
  const bareBatch = async (): Promise<number> => {
    const rows = ids('bare');
    await bare.write(`INSERT INTO bare (id, account_id, amount_nanos, facts, placed_at) VALUES ${cells}`, rows);
    await bare.write(
      `UPDATE bare SET charged_nanos = 1 WHERE id IN (${rows.map((_, at) => `$${at + 1}`).join(', ')})`,
      rows,
    );
    return size;
  };
  const cost = { us: 0, calls: 0 };
  const batch = async (): Promise<number> => {
    const names = ids('call');
    await on.calls.placeCalls({ calls: names.map((id) => callOrder(on, id)) });
    await on.calls.settleCalls({ ends: names.map((id) => usedTokens(id, 500n, 300n)) });
    return size;
  };
  const figures = await against(bareBatch, batch, BATCHES_AT_ONCE, cost);
  return [
    {
      what: `calls placed and settled in batches of ${size}, ${name} (baseline: bare rows)`,
      figure: figures.product,
      baseline: figures.baseline,
      unit: '/s',
      ...(size === 128 ? { goal: 'over 13000/s' } : {}),
    },
    { what: `processor time for each of them (ours alone)`, figure: cost.us / cost.calls, unit: 'us' },
  ];
}

/**
 * Tokens known to the gateway, known only to billing, and unknown. The baselines are a digest and a read by an index.
 */
async function authentications({ name, on, bare }: Engine): Promise<readonly Line[]> {
  const principals = cachePrincipals(billingAuthenticate(on.billing), systemClock);
  const digests = new Map([[createHash('sha256').update(KEY).digest('base64'), 1]]);
  const digest = async (): Promise<number> => digests.get(createHash('sha256').update(KEY).digest('base64')) ?? 0;
  const lookUp = async (): Promise<number> =>
    1 + 0 * (await bare.read('SELECT id, account_id FROM bare WHERE id = $1', ['nobody'])).length;
  const cached = await against(
    digest,
    async () => (await principals.of(KEY, { requestId: '', source: () => '127.0.0.1' })) && 1,
    AT_ONCE,
  );
  const hit = await against(lookUp, async () => (await on.billing.authenticate({ key: KEY })) && 1, AT_ONCE);
  const miss = await against(
    lookUp,
    async () =>
      on.billing.authenticate({ key: newId('stranger') }).then(
        () => 0,
        () => 1,
      ),
    AT_ONCE,
  );
  return [
    {
      what: `authentication from the gateway's memory, ${name} (baseline: a digest)`,
      figure: cached.product,
      baseline: cached.baseline,
      unit: '/s',
    },
    {
      what: `authentication, known to billing, ${name} (baseline: a read)`,
      figure: hit.product,
      baseline: hit.baseline,
      unit: '/s',
    },
    {
      what: `authentication, unknown, ${name} (baseline: a read)`,
      figure: miss.product,
      baseline: miss.baseline,
      unit: '/s',
    },
  ];
}

/** Warms up both, then measures them alternately. */
async function against(
  baseline: Work,
  product: Work,
  atOnce: number,
  cost = { us: 0, calls: 0 },
): Promise<{ readonly baseline: number; readonly product: number }> {
  await workFor(ROUND_MS / 3, baseline, atOnce);
  await workFor(ROUND_MS / 3, product, atOnce);
  return byTurns(
    ROUNDS,
    async () => (await workFor(ROUND_MS, baseline, atOnce)).perSecond,
    async () => {
      const { perSecond, done, cpuUs } = await workFor(ROUND_MS, product, atOnce);
      cost.us += cpuUs;
      cost.calls += done;
      return perSecond;
    },
  );
}
