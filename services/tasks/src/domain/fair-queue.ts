/*
 * Start-time fair queueing (Goyal, Vin, Cheng: Start-Time Fair Queueing, IEEE/ACM Transactions on Networking 5, 1997).
 * Each flow has used an amount of virtual time, and the one that has used least is next. It stays fair while the
 * capacity varies, as limits and circuits make it do.
 */

/** The virtual time of one second of video at the weight 1. Whole, so that all weights share it without a remainder. */
const PER_SECOND = 1_000_000;
/** The longest order that counts as such. A longer one would keep its account away for too long. */
const COST_SECONDS_MAX = 3600;
/** The seconds by which a flow that returns may lag behind the others, whatever it used before. */
const DEBT_SECONDS_MAX = 30;

/** The cost of a task in seconds of video, because a long video holds its place at the upstream for longer. */
export function computeCost(seconds: number): number {
  return Math.min(Math.max(Math.ceil(seconds), 1), COST_SECONDS_MAX);
}

/** The virtual time that a flow uses for a task of this cost. */
export function computeCharge(cost: number, weight: number): number {
  return Math.ceil((cost * PER_SECOND) / weight);
}

/**
 * The virtual time at which a flow begins to wait again. `least` is the virtual time of the next flow, absent if no
 * flow waits. Idle time earns the next turn and no further credit: a flow that rarely comes is not behind a flow that
 * always waits. It pays for that turn, so it overtakes each of the others once at most. Usage in a busy time is
 * forgiven but for a small debt.
 */
export function computeStart(used: number, least: number | undefined, weight: number): number {
  if (least === undefined) return used;
  return Math.min(Math.max(used, least - 1), least + computeCharge(DEBT_SECONDS_MAX, weight));
}
