/**
 * Tries all fetch attacks against a program of its own on loopback: `npm run attacks`. It exits with 1 if one was not
 * refused.
 */
import { openAttackWorld } from './attack-world.ts';
import { runAttacks } from './fetch-attacks.ts';

const world = await openAttackWorld();
try {
  const began = performance.now();
  const { groups, refused, failed, reached, faults } = await runAttacks(world);
  for (const [group, count] of groups) console.log(`${String(count).padStart(5)}  ${group}`);
  for (const line of [...failed, ...faults]) console.log(`FAILED ${line}`);
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  console.log(`${refused} refused, ${reached} reached, ${failed.length} failed, in ${seconds} s`);
  if (failed.length > 0 || faults.length > 0 || reached > 0) process.exitCode = 1;
} finally {
  await world.close();
}
