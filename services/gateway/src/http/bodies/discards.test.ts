import { Readable } from 'node:stream';
import { expect, test } from '@jest/globals';
import { fakeClock } from '@reelgate/platform/testing/fake-clock';
import { newDiscards } from './receive-body.ts';

const MIB = 1024 * 1024;
const BODY = 64 * MIB;
const SECOND_MAX = 8 * MIB;
const AT_ONCE_MAX = 64 * MIB;
/** What the two streams read ahead. */
const AHEAD = 4 * MIB;

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

test('refused bodies are discarded at a speed that they share, and to their end', async () => {
  const clock = fakeClock();
  const discard = newDiscards(clock);
  const bodies = [aBody(), aBody()];
  const read = (): number => bodies.reduce((sum, body) => sum + body.read(), 0);

  for (const { request } of bodies) discard(request);
  await turns();
  expect(read()).toBeLessThanOrEqual(AT_ONCE_MAX + AHEAD);

  for (let second = 1; second <= 9; second += 1) {
    for (let step = 0; step < 10; step += 1) {
      await clock.advance(100);
      await turns();
    }
    expect(read()).toBeLessThanOrEqual(AT_ONCE_MAX + second * SECOND_MAX + AHEAD);
  }
  expect(read()).toBe(2 * BODY);
});
