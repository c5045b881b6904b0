import { parseArgs } from 'node:util';
import type { Order } from './clients.ts';
import { longFaults, shortFaults } from './faults.ts';
import { runFault } from './run-fault.ts';
import { LONG, SHORT } from './sizes.ts';
import { missingForWorld, startWorld } from './world.ts';

const USAGE = `usage: npm run test:faults -- [--long] [--seed N] [--only PATTERN] [--list]

Brings faults to a cluster of two replicas of each service under load, and checks what clients saw and the books.
  --long           every fault, with outages of 5 and 30 seconds; without it, the short form that CI runs
  --seed N         the seed of a run that is to be repeated
  --only PATTERN   faults whose name matches the regular expression
  --list           print the faults, and run none`;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const faults = (values.long ? longFaults() : shortFaults()).filter(({ name }) => new RegExp(values.only).test(name));

if (values.help) console.log(USAGE);
else if (values.list) for (const { name } of faults) console.log(name);
else process.exitCode = await run();

async function run(): Promise<number> {
  const missing = missingForWorld();
  if (missing !== undefined) {
    console.error(`the faults cannot be brought here: ${missing}`);
    return 2;
  }
  console.log(`seed ${String(seed)}`);
  const { rate, leadMs, minReadyMs } = values.long ? LONG : SHORT;
  const world = await startWorld({ seed, leadMs, minReadyMs });
  const orders: Order[] = [];
  let failed = 0;
  try {
    await world.available();
    for (const [at, fault] of faults.entries()) {
      const began = performance.now();
      const { requests, failures, wrong } = await runFault(world, fault, { seed: seed * 100 + at, rate, orders });
      const seconds = ((performance.now() - began) / 1000).toFixed();
      console.log(`${wrong.length === 0 ? 'ok' : 'not ok'} ${fault.name} (${String(requests)} requests, ${seconds} s)`);
      for (const line of failures) console.log(`   failed: ${line}`);
      for (const line of wrong.slice(0, 20)) console.log(`   wrong: ${line}`);
      if (wrong.length > 0) failed += 1;
    }
  } finally {
    await world.close();
  }
  console.log(`${String(faults.length - failed)} passed, ${String(failed)} failed (seed ${String(seed)})`);
  return failed > 0 || faults.length === 0 ? 1 : 0;
}
