import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Order } from './clients.ts';
import { shortOutages } from './faults.ts';
import { runFault } from './run-fault.ts';
import { SHORT } from './sizes.ts';
import { missingForWorld, startWorld } from './world.ts';
import type { World } from './world.ts';

const SEED = Number(process.env['REELGATE_SEED'] ?? Math.floor(Math.random() * 1_000_000));
const START_TIMEOUT_MS = 240_000;
const FAULT_TIMEOUT_MS = 300_000;

const missing = missingForWorld();
if (missing !== undefined) process.stderr.write(`skipped: faults in a cluster: ${missing}\n`);

(missing === undefined ? describe : describe.skip)(
  `two replicas of each service in a cluster, under load (REELGATE_SEED=${SEED})`,
  () => {
    let world: World | undefined;
    const orders: Order[] = [];

    beforeAll(async () => {
      world = await startWorld({ ...SHORT, seed: SEED, isPollAsShipped: false });
      await world.available();
    }, START_TIMEOUT_MS);
    afterAll(() => world?.close(), START_TIMEOUT_MS);

    test.each(shortOutages().map((fault, at) => [fault.name, fault, at] as const))(
      '%s: clients lose at most what they were told to repeat, and the books are right',
      async (_name, fault, at) => {
        const { requests, wrong } = await runFault(world!, fault, { seed: SEED + at, rate: SHORT.rate, orders });

        expect(requests).toBeGreaterThan(0);
        expect(wrong).toEqual([]);
      },
      FAULT_TIMEOUT_MS,
    );
  },
);
