import { auditTasks } from './audit-tasks.ts';
import { runBackup } from './backups.ts';
import { runBatches } from './batches.ts';
import { runBodies } from './bodies.ts';
import { runCalls } from './calls.ts';
import { runClients } from './clients.ts';
import { decideTasks } from './decisions.ts';
import type { Machine } from './machine.ts';
import { runErrands } from './errands.ts';
import { runOperators } from './operators.ts';
import { runRpcCallers } from './rpc-callers.ts';
import { passTime } from './retention.ts';
import type { Rules } from './rules/rules.ts';
import { LostAnswer } from './simulated-http.ts';
import { startStream } from './streams.ts';
import { runUploads } from './uploads.ts';
import { startWatch } from './watches.ts';
import type { UpstreamWorks } from './upstream-works.ts';
import type { World } from './world.ts';

/** Faults end after this time, so that every task can come to rest. */
const FAULTS_MS = 75_000;
const CHECK_MS = 15_000;
/** All tasks are at rest within this time after the end of the faults. It is shorter than the lease of a task. */
const REST_MS_MAX = 10 * 60_000;
/** Where a clock was set back, times that were written before lie in its future. */
const REST_AFTER_JUMPS_MS_MAX = 30 * 60_000;

/**
 * Runs the clients, the end of the faults, the rest of all tasks, and the last checks. `onHeld` is called after each check
 * of the rules that hold at every moment, if they held.
 */
export async function runWorld(world: World, works: UpstreamWorks, onHeld: () => void): Promise<void> {
  const { scheduler, faults, machine, events, rules } = world;
  scheduler.after(FAULTS_MS, scheduler.world, () => {
    events.write(scheduler.now(), 'world', 'the faults end');
    faults.end();
  });
  const restMsMax = faults.listOn().includes('clock jump') ? REST_AFTER_JUMPS_MS_MAX : REST_MS_MAX;
  let isAtEnd = false;
  const check = (): void => {
    if (isAtEnd) return;
    if (machine.isUp()) {
      rules.checkMoment();
      if (rules.broken() === undefined) onHeld();
    }
    const since = scheduler.now() - restMsMax;
    if (machine.isUp() && since > scheduler.begin + FAULTS_MS) rules.checkRest(since);
    scheduler.after(CHECK_MS, scheduler.world, check);
  };
  check();
  const stream = startStream(world);
  const watch = startWatch(world);
  await Promise.all([
    ...[runClients(world), runCalls(world), runBatches(world), runOperators(world), runErrands(world)],
    ...[runRpcCallers(world, watch), runBodies(world), runUploads(world), runBackup(world)],
  ]);
  const isHealthy = (): boolean => scheduler.now() >= scheduler.begin + FAULTS_MS || faults.isCalm;
  const waitForRest = async (): Promise<void> => {
    const until = Math.max(scheduler.now(), scheduler.begin + FAULTS_MS) + restMsMax;
    while (!(isHealthy() && machine.isUp() && rules.isAtRest(faults.isCalm)) && scheduler.now() < until)
      await scheduler.pause(1000);
  };
  await waitForRest();
  if (!machine.isUp()) {
    rules.break('the program starts again', 'it is down after the end of the faults');
    return;
  }
  await Promise.all([stream.finish(), watch.finish()]);
  await auditTasks(world);
  // a task that waits for a person can end meanwhile
  await waitForRest();
  rules.checkMoment();
  rules.checkEnd(works, faults.isCalm);
  await checkLedger(machine, rules);
  // no other check is due while nothing runs for days
  isAtEnd = true;
  if (rules.broken() !== undefined) return;
  await passTime(world, await decideTasks(world));
  rules.checkMoment();
  await checkLedger(machine, rules);
}

/** The product's own check of its ledger. */
async function checkLedger(machine: Machine, rules: Rules): Promise<void> {
  try {
    const { ok, faults } = await machine.call(
      ({ accounts }) => accounts.verifyLedger({ actor: 'simulation' }),
      'check of the ledger',
    );
    if (!ok) rules.break('the ledger verifies', faults.join('; '));
  } catch (error) {
    if (error instanceof LostAnswer) rules.break('the program stays up', 'it died during the last check');
    throw error;
  }
}
