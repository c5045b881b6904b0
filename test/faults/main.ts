import { parseArgs } from 'node:util';
import type { Order } from './clients.ts';
import { longFaults, shortFaults } from './faults.ts';
import { numbers } from './numbers.ts';
import { runFault } from './run-fault.ts';
import { LONG, SHORT } from './sizes.ts';
import type { Size } from './sizes.ts';
import { missingForWorld, startWorld } from './world.ts';
import type { World } from './world.ts';

const MINUTE_MS = 60_000;
/** For --numbers: the load has one other request for this number of creates. */
const CREATES_PER_OTHER = 4;

const USAGE = `usage: npm run test:faults -- [--long] [--seed N] [--only PATTERN] [--list] [--numbers]

Brings faults to a cluster of two replicas of each service under load, and checks what clients saw and the books.
  --long           every fault, with outages of 5 and 30 seconds; without it, the short form that CI runs
  --seed N         the seed of a run that is to be repeated
  --numbers        a table: creates and reads before, during and after restarts, one every ten seconds
  --creates N      creates a second for --numbers; 40 by default
  --minutes N      the restarts of --numbers last so long; 5 by default
  --only PATTERN   faults whose name matches the regular expression
  --list           print the faults, and run none`;

const { values } = parseArgs({
  options: {
    long: { type: 'boolean', default: false },
    seed: { type: 'string', default: String(Math.floor(Math.random() * 1_000_000)) },
    numbers: { type: 'boolean', default: false },
    creates: { type: 'string', default: '40' },
    minutes: { type: 'string', default: '5' },
    only: { type: 'string', default: '' },
    list: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const seed = Number(values.seed);
const faults = (values.long ? longFaults() : shortFaults()).filter(({ name }) => new RegExp(values.only).test(name));

if (values.help) console.log(USAGE);
else if (values.list) for (const { name } of faults) console.log(name);
else process.exitCode = values.numbers ? await measure() : await run();

async function open(size: Size, isPollAsShipped = false): Promise<World> {
  const missing = missingForWorld();
  if (missing !== undefined) throw new Error(`the faults cannot be brought here: ${missing}`);
  console.log(`seed ${seed}`);
  return startWorld({ seed, isPollAsShipped, ...size });
}

async function measure(): Promise<number> {
  const world = await open(LONG, true);
  try {
    await world.available();
    const createsPerSecond = Number(values.creates);
    const restartsForMs = Number(values.minutes) * MINUTE_MS;
    const othersPerSecond = createsPerSecond / CREATES_PER_OTHER;
    const plan = { seed, createsPerSecond, othersPerSecond, restartsForMs };
    const { lines, wrong } = await numbers(world, plan);
    console.log(lines.join('\n'));
    for (const line of wrong) console.log(`   wrong: ${line}`);
    return wrong.length === 0 ? 0 : 1;
  } finally {
    await world.close();
  }
}

async function run(): Promise<number> {
  const size = values.long ? LONG : SHORT;
  const { rate } = size;
  const world = await open(size);
  const orders: Order[] = [];
  let failed = 0;
  try {
    await world.available();
    for (const [at, fault] of faults.entries()) {
      const began = performance.now();
      const { requests, failures, wrong } = await runFault(world, fault, { seed: seed * 100 + at, rate, orders });
      const seconds = ((performance.now() - began) / 1000).toFixed();
      console.log(`${wrong.length === 0 ? 'ok' : 'not ok'} ${fault.name} (${requests} requests, ${seconds} s)`);
      for (const line of failures) console.log(`   failed: ${line}`);
      for (const line of wrong.slice(0, 20)) console.log(`   wrong: ${line}`);
      if (wrong.length > 0) failed += 1;
    }
  } finally {
    await world.close();
  }
  console.log(`${faults.length - failed} passed, ${failed} failed (seed ${seed})`);
  return failed > 0 || faults.length === 0 ? 1 : 0;
}
