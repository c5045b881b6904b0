import { repeatCall } from './operators.ts';
import { ALPHA_CHANNEL, KLING_CHANNEL, REMIXED_MODEL, RICH } from './simulated-config.ts';
import type { World } from './world.ts';

/** The name under which a run can do without it. */
export const BACKUP = 'backup';
const BACKED_UP = 0.25;
/** A backup is that of a program that works. A command that finds it down comes again after this time. */
const RETRY_MS = 500;
const TRIES_MAX = 30;
const BACKUP_MS = { least: 8000, most: 40_000 };
/** A restore comes before the end of the faults, so that the program meets it with all of them. */
const RESTORE_AFTER_MS = { least: 3000, most: 30_000 };
const REASON = 'a restore took it back';

/**
 * In some seeds an operator backs up the stores while the program works, and later restores the backup as the README of
 * deploy says: stops every process, puts the copies in the place of the stores, and starts the program. What clients and
 * upstreams did meanwhile is forgotten by the product.
 */
export async function runBackup(world: World): Promise<void> {
  const { scheduler, draws, faults, machine, events, rules, acts } = world;
  if (faults.isCalm || faults.isLeftOut(BACKUP) || !draws.happens(BACKUP, BACKED_UP)) return;
  await scheduler.pause(draws.whole(`${BACKUP} at`, BACKUP_MS.least, BACKUP_MS.most));
  let restore = machine.backUp();
  for (let tries = 1; tries < TRIES_MAX && restore === undefined; tries += 1) {
    await scheduler.pause(RETRY_MS);
    restore = machine.backUp();
  }
  if (restore === undefined) return;
  const backedUpAt = scheduler.now();
  events.write(backedUpAt, 'operator', 'the stores are backed up');
  await scheduler.pause(draws.whole(`${BACKUP} restored after`, RESTORE_AFTER_MS.least, RESTORE_AFTER_MS.most));
  await restore('restore');
  events.write(scheduler.now(), 'operator', 'the stores are those of the backup');
  rules.restored(backedUpAt);
  acts.note('a backup is restored');
  await repeatOrders(world);
}

/** The stores may have a pause or a hold again that an operator has ended after the backup. */
async function repeatOrders(world: World): Promise<void> {
  for (const id of [ALPHA_CHANNEL, KLING_CHANNEL])
    await repeatCall(world, `resume of ${id}`, ({ channels }) => channels.resumeChannel({ id, reason: REASON }));
  for (const held of [{ accountId: RICH.id }, { model: REMIXED_MODEL }])
    await repeatCall(world, 'release again', ({ queue }) => queue.releaseQueue({ ...held, reason: REASON }));
}
