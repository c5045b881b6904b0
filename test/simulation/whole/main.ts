import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { plantBug } from './plant-bug.ts';
import { PLANTED_BUGS } from './planted-bugs.ts';
import type { SeedResult } from './run-seed.ts';
import type { BrokenRule } from './rules.ts';

const USAGE = 'npm run simulate -- --seed N [--seeds COUNT] [--steps M] [--log FILE] [--bug NAME]';

const { values } = parseArgs({
  options: {
    seed: { type: 'string' },
    seeds: { type: 'string' },
    steps: { type: 'string' },
    log: { type: 'string' },
    bug: { type: 'string' },
  },
});
const first = readNumber('seed', values.seed);
const count = values.seeds === undefined ? 1 : readNumber('seeds', values.seeds);
const bug = values.bug === undefined ? undefined : PLANTED_BUGS[values.bug];
if (values.bug !== undefined && bug === undefined)
  fail(`bug: no planted bug is called ${values.bug}; expected one of ${Object.keys(PLANTED_BUGS).join(', ')}`);
const assertPlanted = bug === undefined ? () => undefined : plantBug(bug);
// the product is loaded only now, so that a bug can be planted into its source
const { runSeed, STEPS_MAX } = await import('./run-seed.ts');
assertPlanted();
const stepsMax = values.steps === undefined ? STEPS_MAX : readNumber('steps', values.steps);
const commit = readCommit();
// the simulation replaces these
const readRealTime = process.hrtime.bigint;
const begun = readRealTime();

let totals = { tasks: 0, crashes: 0, steps: 0, virtualMs: 0 };
for (let seed = first; seed < first + count; seed += 1) {
  const result = await runSeed({ seed, stepsMax });
  const { tasks, crashes, steps, virtualMs } = totals;
  totals = {
    tasks: tasks + result.tasks,
    crashes: crashes + result.crashes,
    steps: steps + result.steps,
    virtualMs: virtualMs + result.virtualMs,
  };
  show(result);
  if (values.log !== undefined) writeFileSync(values.log, result.events.text());
  if (result.broken !== undefined) {
    tell(result, result.broken);
    process.exit(1);
  }
}
showTotals();
process.exit(0);

function show({ seed, faults, tasks, waiting, works, crashes, steps, virtualMs, events }: SeedResult): void {
  console.log(
    `seed ${seed}: ${tasks} tasks (${waiting} wait for a person), ${works} works, ${crashes} crashes, ${steps} steps, ` +
      `${toMinutes(virtualMs)} virtual minutes, log ${events.digest()}`,
  );
  if (count === 1) console.log(`faults: ${faults.length === 0 ? 'none' : faults.join(', ')}`);
}

function showTotals(): void {
  const seconds = Number(readRealTime() - begun) / 1e9;
  const { tasks, crashes, steps, virtualMs } = totals;
  console.log(
    `${count} seeds in ${seconds.toFixed(1)} s: ${(tasks / seconds).toFixed(1)} tasks, ` +
      `${(crashes / seconds).toFixed(1)} crashes, ${(steps / seconds).toFixed(0)} steps and ` +
      `${toMinutes(virtualMs / seconds)} virtual minutes a second`,
  );
}

/** Tells what a person needs to find the cause. */
function tell({ seed, events }: SeedResult, { rule, detail }: BrokenRule): void {
  const steps = values.steps === undefined ? [] : ['--steps', values.steps];
  const planted = values.bug === undefined ? [] : ['--bug', values.bug];
  console.log(['the last events:', ...events.last(), ''].join('\n'));
  console.log(`seed ${seed} at commit ${commit}, Node ${process.version}, breaks the rule: ${rule}`);
  console.log(detail);
  console.log(`replay: ${['npm run simulate --', '--seed', seed, ...steps, ...planted].join(' ')}`);
}

function toMinutes(ms: number): string {
  return (ms / 60_000).toFixed(1);
}

function readNumber(name: string, text: string | undefined): number {
  if (text === undefined || !/^\d{1,9}$/.test(text)) fail(`${name}: expected a whole number; ${USAGE}`);
  return Number(text);
}

function readCommit(): string {
  try {
    return execFileSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).trim();
  } catch {
    return 'unknown';
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
