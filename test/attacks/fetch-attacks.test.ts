import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { openAttackWorld } from './attack-world.ts';
import type { AttackWorld } from './attack-world.ts';
import { runAttacks } from './fetch-attacks.ts';

const START_MS = 120_000;
const RUN_MS = 400_000;
/** The number of attacks that were first tried by hand. */
const ATTACKS_MIN = 483;
let world: AttackWorld;

beforeAll(async () => {
  world = await openAttackWorld();
}, START_MS);
afterAll(() => world?.close(), START_MS);

test(
  'every forbidden address is refused with its documented reason in every field, and no connection reaches one',
  async () => {
    const { refused, failed, reached, faults } = await runAttacks(world);

    console.log(`${refused} refused, ${reached} reached`);
    expect({ failed, reached, faults }).toEqual({ failed: [], reached: 0, faults: [] });
    expect(refused).toBeGreaterThan(ATTACKS_MIN);
  },
  RUN_MS,
);
