import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import type { FakeClock } from '@reelgate/platform/testing/fake-clock';
import { newDiscards } from './discard-body.ts';
import type { DiscardBody } from './discard-body.ts';

const MIB = 1024 * 1024;
const BODY = 64 * MIB;
const ONE = { secondMax: 8 * MIB, atOnceMax: 16 * MIB };
const ALL = { secondMax: 16 * MIB, atOnceMax: 32 * MIB };
/** What a stream reads ahead. */
const AHEAD = 2 * MIB;

/** A body that is there as fast as it is read. */
function aBody(): { readonly request: Readable; read(): number } {
  let bytes = 0;
  const stream = new Readable({
    read() {
      if (bytes >= BODY) {
        this.push(null);
        return;
      }
      bytes += MIB;
      this.push(Buffer.alloc(MIB));
    },
  });
  return { request: stream, read: () => bytes };
}

const turns = async (): Promise<void> => {
  for (let turn = 0; turn < 200; turn += 1) await new Promise((resolve) => setImmediate(resolve));
};

async function passSecond(clock: FakeClock): Promise<void> {
  for (let step = 0; step < 10; step += 1) {
    await clock.advance(100);
    await turns();
  }
}

async function discardBodies(discard: DiscardBody, owners: readonly string[]): Promise<() => number> {
  const bodies = owners.map((owner) => ({ owner, ...aBody() }));
  for (const { owner, request } of bodies) discard(request, owner);
  await turns();
  return () => bodies.reduce((sum, body) => sum + body.read(), 0);
}

test.each([
  ['of one account', ['a', 'a'], ONE],
  ['of four accounts', ['a', 'b', 'c', 'd'], ALL],
])('refused bodies %s are discarded at a speed that they share, and to their end', async (_whose, owners, speed) => {
  const clock = fakeClock();
  const read = await discardBodies(newDiscards(clock), owners);
  const aheadMax = owners.length * AHEAD;
  expect(read()).toBeLessThanOrEqual(speed.atOnceMax + aheadMax);

  for (let second = 1; second <= 16; second += 1) {
    await passSecond(clock);
    expect(read()).toBeLessThanOrEqual(speed.atOnceMax + second * speed.secondMax + aheadMax);
  }
  expect(read()).toBe(owners.length * BODY);
});

test('the refused bodies of one account leave the speed of another account as it is', async () => {
  const clock = fakeClock();
  const discard = newDiscards(clock);
  await discardBodies(discard, ['a', 'a', 'a', 'a']);
  await passSecond(clock);

  const read = await discardBodies(discard, ['b']);
  expect(read()).toBeGreaterThanOrEqual(ONE.atOnceMax);
  await passSecond(clock);
  expect(read()).toBeGreaterThanOrEqual(ONE.atOnceMax + ONE.secondMax);
});
