import { LRUCache } from 'lru-cache';
import { isRecent } from '@reelgate/platform/clock';
import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import { thenMaybe } from '@reelgate/platform/maybe-promise';
import type { MaybePromise } from '@reelgate/platform/maybe-promise';
import type { AccountCaller } from '../clients/caller.ts';
import type { TaskCharge } from '../clients/money-client.ts';
import { isFinal } from '../clients/tasks-client.ts';
import type { Task } from '../clients/tasks-client.ts';
import { toMs } from '../clients/wire-values.ts';
import { isSettled } from '../domain/charge.ts';
import type { Charge } from '../domain/charge.ts';
import { dropStale } from './read-task.ts';

/** A read of a task waits no longer for its charge. */
export const CHARGE_DEADLINE_MS = 300;
/** After billing has failed to answer, reads go without new charges for this time. */
const AWAY_MS = 2000;
const KNOWN_MAX = 50_000;
/**
 * The time in milliseconds for which a charge stays known. The hold of a running task changes only when its videos are
 * measured. The charge of an ended task comes a moment after its end.
 */
const FRESH_MS = { same: 60_000, changing: 250 };

/**
 * The waits in milliseconds for the charge of a task that ended within the last five seconds. A client often reads a
 * task once after its end, and that read then has its cost.
 */
const SETTLE_WAITS_MS = [30, 70, 150];
const JUST_ENDED_MS = 5000;

/** A charge, and whether it holds for as long as the task stays as it was read. */
export interface ChargeReading {
  /** Undefined if the task has no money or billing could not be asked. */
  readonly charge: Charge | undefined;
  readonly isLasting: boolean;
}

/** Reads the holds and costs of tasks. A reading never fails: without an answer of billing it has no charge. */
export interface ChargeReader {
  /** At once if it is known. Waits a quarter of a second for the charge of a task that has just ended. */
  read(task: Task, caller: AccountCaller): MaybePromise<ChargeReading>;
  /** Reads up to 100 tasks with one call. A task without a known charge is left out. */
  readAll(tasks: readonly Task[], caller: AccountCaller): MaybePromise<ReadonlyMap<string, Charge>>;
}

/** Reads the charges of up to 100 tasks of an account, by task, within a deadline. */
export type ReadTaskCharges = (
  caller: AccountCaller,
  taskIds: readonly string[],
  timeoutMs: number,
) => Promise<ReadonlyMap<string, TaskCharge>>;

interface Known {
  readonly charge: Charge | undefined;
  readonly at: number;
  /** True if the task had ended when billing was asked. */
  readonly isEnded: boolean;
}

const NOTHING: ChargeReading = { charge: undefined, isLasting: false };

export interface CacheChargesDeps {
  readonly clock: Clock;
  readonly log: Log;
}

/** Caches charges, bounded in number. A settled one never changes, so it stays for as long as it is read. */
export function cacheCharges(ask: ReadTaskCharges, { clock, log }: CacheChargesDeps): ChargeReader {
  // grows with its charges; by `max` alone it would take the memory of all of them at the start
  const known = new LRUCache<string, Known>({ maxSize: KNOWN_MAX, sizeCalculation: () => 1 });
  const pending = new Map<string, Promise<ChargeReading>>();
  let failedAt: number | undefined;

  const isAway = (): boolean => failedAt !== undefined && isRecent(clock, failedAt, AWAY_MS);
  const findKnown = (task: Task): Known | undefined => {
    const entry = known.get(task.id);
    return entry !== undefined && isValid(clock, entry, task) ? entry : undefined;
  };
  const askBilling = async (tasks: readonly Task[], caller: AccountCaller): Promise<boolean> => {
    const at = clock.now();
    try {
      const charges = await ask(
        caller,
        tasks.map(({ id }) => id),
        CHARGE_DEADLINE_MS,
      );
      for (const task of tasks) {
        const found = charges.get(task.id);
        known.set(task.id, { charge: found && toCharge(found), at, isEnded: isFinal(task) });
        dropStale(known, (entry) => !isRecent(clock, entry.at, FRESH_MS.same));
      }
      failedAt = undefined;
      return true;
    } catch (error) {
      failedAt = clock.now();
      log.warn({ err: error }, 'billing did not answer in time; reads of tasks have no new charges for two seconds');
      return false;
    }
  };
  const askUntilSettled = async (task: Task, caller: AccountCaller): Promise<ChargeReading> => {
    for (const ms of SETTLE_WAITS_MS) {
      if (!(await askBilling([task], caller))) return NOTHING;
      const reading = toReading(known.get(task.id), task);
      if (reading.charge === undefined || reading.isLasting || !hasJustEnded(clock, task)) return reading;
      await clock.sleep(ms);
    }
    return (await askBilling([task], caller)) ? toReading(known.get(task.id), task) : NOTHING;
  };
  const start = (task: Task, caller: AccountCaller): Promise<ChargeReading> => {
    const call: Promise<ChargeReading> = askUntilSettled(task, caller).finally(() =>
      pending.delete(toPendingKey(task)),
    );
    pending.set(toPendingKey(task), call);
    return call;
  };

  return {
    read: (task, caller) => {
      const entry = findKnown(task);
      if (entry !== undefined) return toReading(entry, task);
      return isAway() ? NOTHING : (pending.get(toPendingKey(task)) ?? start(task, caller));
    },
    readAll: (tasks, caller) => {
      const missing = isAway() ? [] : tasks.filter((task) => findKnown(task) === undefined);
      return thenMaybe(missing.length === 0 || askBilling(missing, caller), () => {
        const charges = tasks.map((task) => [task.id, findKnown(task)?.charge] as const);
        return new Map(charges.flatMap(([id, charge]) => (charge === undefined ? [] : [[id, charge]])));
      });
    },
  };
}

/** A call that began while the task ran may return less than a call after its end. */
function toPendingKey(task: Task): string {
  return isFinal(task) ? task.id : `${task.id} running`;
}

function hasJustEnded(clock: Clock, task: Task): boolean {
  return isFinal(task) && isRecent(clock, toMs(task.updatedAt) ?? 0, JUST_ENDED_MS);
}

function isValid(clock: Clock, { charge, at, isEnded }: Known, task: Task): boolean {
  if (charge !== undefined && isSettled(charge)) return true;
  // a running task without a hold is about to get one, and an ended one never does
  const isChanging = isFinal(task) ? charge !== undefined : charge === undefined;
  return isEnded === isFinal(task) && isRecent(clock, at, isChanging ? FRESH_MS.changing : FRESH_MS.same);
}

function toReading(entry: Known | undefined, task: Task): ChargeReading {
  if (entry?.charge === undefined) return NOTHING;
  return { charge: entry.charge, isLasting: isSettled(entry.charge) || !isFinal(task) };
}

/** The money of a task from its hold. */
export function toCharge({ heldNanos, chargedNanos, basis, currency }: Omit<TaskCharge, 'taskId'>): Charge {
  if (basis === 'released') return { state: 'released', amountNanos: heldNanos, currency };
  if (chargedNanos !== undefined) return { state: 'charged', amountNanos: chargedNanos, currency };
  return { state: 'held', amountNanos: heldNanos, currency };
}
