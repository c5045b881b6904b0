import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { openSql } from '@reelgate/platform/sql/open-sql';
import type { Sql } from '@reelgate/platform/sql/sql';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { recorded } from '../../../testing/journal.ts';
import { dieAt } from '../../../testing/process-death.ts';
import type { Moment } from '../../../testing/process-death.ts';
import { openDeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';
import type { DeliveryWorld } from '../../../testing/webhooks/open-delivery-world.ts';

const LEASE_MS = 60_000;
const STEPS_MAX = 100;
const EVENTS = ['evt_1', 'evt_2'];
const MIGRATIONS = path.join(import.meta.dirname, '../../../migrations');

/** The receivers of clients. They refuse each event once. */
function anInternet() {
  const got: { readonly url: string; readonly eventId: string }[] = [];
  return {
    got,
    send: async (url: string, eventId: string): Promise<number> => {
      const isFirst = !got.some((sent) => sent.url === url && sent.eventId === eventId);
      got.push({ url, eventId });
      return isFirst ? 503 : 204;
    },
  };
}
type Internet = ReturnType<typeof anInternet>;

/** A worker that sends what is due, and records each delivery by itself. */
async function work(world: DeliveryWorld, internet: { readonly send: Internet['send'] }): Promise<void> {
  for (const receiver of await world.lease()) {
    for (const delivery of receiver.deliveries) {
      const status = await internet.send(delivery.url, delivery.event!.id);
      await world.answer([{ ...receiver, deliveries: [delivery] }], status, { returned: false });
    }
    await world.answer([{ ...receiver, deliveries: [] }], 0);
  }
}

/** One process from the end of the work to the second attempts. */
async function live(world: DeliveryWorld, internet: Internet): Promise<void> {
  const counted = recorded('internet', { send: internet.send }, world.journal);
  await world.dispatch();
  await work(world, counted);
  await world.clock.advance(10_000);
  await work(world, counted);
}

async function prepared(world: DeliveryWorld): Promise<void> {
  await world.addEndpoint('whe_1');
  await world.happen(...EVENTS.map((id) => ({ id, url: 'https://hooks.example/of-request' })));
  world.journal.clear();
}

const RECEIVERS = ['whe_1', 'default'];
const dataDirs: string[] = [];
const opened: Sql[] = [];
afterEach(async () => {
  for (const sql of opened.splice(0)) await sql.close();
  for (const folder of dataDirs.splice(0)) rmSync(folder, { recursive: true });
});

function newFolder(): string {
  const folder = mkdtempSync(path.join(tmpdir(), 'reelgate-deliveries-'));
  dataDirs.push(folder);
  return folder;
}

async function openWorld(dataDir: string, clock?: FakeClock): Promise<DeliveryWorld> {
  const sql = await openSql({ url: undefined, dataDir, name: 'tasks', migrations: MIGRATIONS });
  opened.push(sql);
  return openDeliveryWorld(sql, clock);
}

/** Each event has reached each receiver, at most one attempt more than were written, and every delivery has ended. */
async function expectAllDelivered(world: DeliveryWorld, internet: Internet): Promise<void> {
  for (const endpointId of RECEIVERS) {
    const found = await world.deps.webhooks.listDeliveries({ accountId: 'acme', endpointId }, { limit: 100 });
    expect(found.map(({ eventId, state }) => `${eventId} ${state}`).toSorted()).toEqual(
      EVENTS.map((id) => `${id} delivered`),
    );
    for (const { id, attempts } of found)
      expect((await world.deps.webhooks.listAttempts(id)).map(({ number }) => number)).toEqual(
        Array.from({ length: attempts }, (_, index) => index + 1),
      );
  }
  const received = Map.groupBy(internet.got, ({ url }) => new URL(url).host);
  expect(received.size).toBe(RECEIVERS.length);
  for (const all of received.values()) {
    expect([...new Set(all.map(({ eventId }) => eventId))].toSorted()).toEqual(EVENTS);
    expect(all.length).toBeLessThanOrEqual(2 * EVENTS.length + 1);
  }
}

test.each<Moment>(['before', 'after'])(
  'a process that dies %s any of its steps loses no delivery, and repeats carry the same event ids',
  async (moment) => {
    for (let step = 1; step <= STEPS_MAX; step += 1) {
      const folder = newFolder();
      const dying = await openWorld(folder);
      const internet = anInternet();
      await prepared(dying);
      const died = dieAt(dying.journal, step, moment);
      const end = await Promise.race([died, live(dying, internet).then(() => 'finished')]);

      const next = await openWorld(folder, dying.clock);
      for (let round = 0; round < 4; round += 1) {
        await next.dispatch();
        await work(next, internet);
        await next.clock.advance(LEASE_MS);
      }

      await expectAllDelivered(next, internet);
      if (end === 'finished') return;
    }
    throw new Error(`the process has more than ${STEPS_MAX} steps`);
  },
  120_000,
);
