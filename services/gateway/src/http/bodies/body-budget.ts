import type { Clock } from '@reelgate/platform/clock';
import { newArrivals } from '@reelgate/platform/http/body-arrivals';
import type { Arrivals, BodyPace } from '@reelgate/platform/http/body-arrivals';
import { newSemaphore } from '@reelgate/platform/limits/semaphore';
import type { Semaphore } from '@reelgate/platform/limits/semaphore';

const WAITERS_MAX = 256;
/** The first bytes of every body, for which the short reserve is kept. Longer bodies wait for a turn of their owner. */
const SHORT_BYTES = 64 * 1024;
/** The part of the budget that only the first bytes of bodies can take: an eighth. */
const SHORT_RESERVE = 8;
/** The part that only operators can take: a 32nd. */
const OPERATOR_RESERVE = 32;
/** An account can have a quarter of the budget, or one body of the largest size. A source address has an eighth. */
const ACCOUNT_SHARE = 4;
const SOURCE_SHARE = 8;
/** A body gives way to another of its owner, and an owner to another, that would have less than half as much. */
const GIVES_WAY = 2;

/** The account, the network of a request without a token, or the operators, to whom a body is counted. */
export interface BodyOwner {
  readonly kind: 'account' | 'source' | 'operator';
  readonly id: string;
}

/** The reason to stop a body that arrives: others need its bytes, or its client sends too slowly. */
export type StopReason = 'busy' | 'slow';

/** The bytes of one body that are in memory. */
export interface CountedBody {
  /** Waits behind the long bodies of the same owner; false after the wait limit or the signal. Nothing is reserved. */
  waitForTurn(declared: number, signal: AbortSignal): Promise<boolean>;
  /** Expects the bytes from now on. The body can be stopped until it is complete. */
  begin(stop: (why: StopReason) => void): void;
  /** Counts bytes that have arrived and bytes that are held. Returns false if there is no room for them. */
  take(arrived: number, held: number): boolean;
  /** The gateway itself does not read for now, so the silence of the client is not counted. */
  pause(): void;
  resume(): void;
  /** All its bytes are here. */
  end(): void;
  /** It is refused, and its bytes are dropped. Its turn lasts until the release. */
  drop(): void;
  release: () => void;
}

/** Bounds the bytes of all bodies that are in memory at once. Only bytes that have arrived are counted. */
export interface BodyBudget {
  count(owner: BodyOwner): CountedBody;
  /** The bytes that are held now, and the most that there can be. */
  state(): { readonly used: number; readonly limit: number };
}

export interface BodyBudgetOptions {
  readonly bytesMax: number;
  /** The largest body, which fits into the share of an account. */
  readonly bodyBytesMax: number;
  readonly clock: Clock;
  /** Maximum wait of a long body behind others of its owner, in milliseconds. */
  readonly waitMsMax: number;
  readonly pace: BodyPace;
}

/** The bodies of one owner. */
interface OwnedBodies {
  readonly share: number;
  readonly isOperator: boolean;
  used: number;
  bodies: number;
  /** Permits by declared bytes. They order the bodies of this owner and do not delay other owners. */
  turns: Semaphore | undefined;
  /** Called when the owner has no body any more. */
  readonly forget: () => void;
}

interface Body {
  readonly holding: OwnedBodies;
  held: number;
  stop: ((why: StopReason) => void) | undefined;
}

/** The bytes of all bodies, and how others give way to one. */
interface Memory {
  used(): number;
  add(body: Body, bytes: number): void;
  /** Adds the bytes if they fit, or if others give way. */
  tryAdd(body: Body, bytes: number): boolean;
}

/**
 * Each owner has a share. If an owner's share or the whole is used up, the largest body that still arrives gives way to
 * a much smaller one, and one that has stopped gives way to any. So an owner with much keeps no other owner out.
 */
export function openBodyBudget({ bytesMax, bodyBytesMax, clock, waitMsMax, pace }: BodyBudgetOptions): BodyBudget {
  const shares: Readonly<Record<BodyOwner['kind'], number>> = {
    account: Math.max(Math.floor(bytesMax / ACCOUNT_SHARE), bodyBytesMax),
    source: Math.floor(bytesMax / SOURCE_SHARE),
    operator: bytesMax,
  };
  const arrivals = newArrivals<Body>(clock, pace);
  const memory = openMemory(bytesMax, arrivals);
  const holdings = new Map<string, OwnedBodies>();
  const enter = ({ kind, id }: BodyOwner): OwnedBodies => {
    const key = `${kind} ${id}`;
    const holding =
      holdings.get(key) ?? newOwnedBodies(shares[kind], kind === 'operator', () => void holdings.delete(key));
    holdings.set(key, holding);
    holding.bodies += 1;
    return holding;
  };
  return {
    count: (owner) =>
      countBody({ holding: enter(owner), held: 0, stop: undefined }, { arrivals, memory, clock, waitMsMax }),
    state: () => ({ used: memory.used(), limit: bytesMax }),
  };
}

function newOwnedBodies(share: number, isOperator: boolean, forget: () => void): OwnedBodies {
  return { share, isOperator, used: 0, bodies: 0, turns: undefined, forget };
}

interface CountParts extends Pick<BodyBudgetOptions, 'clock' | 'waitMsMax'> {
  readonly arrivals: Arrivals<Body>;
  readonly memory: Memory;
}

function countBody(body: Body, { arrivals, memory, clock, waitMsMax }: CountParts): CountedBody {
  const { holding } = body;
  let turn = 0;
  let isReleased = false;
  const end = (): void => {
    body.stop = undefined;
    arrivals.remove(body);
  };
  const drop = (): void => {
    end();
    memory.add(body, -body.held);
  };
  return {
    waitForTurn: async (declared, signal) => {
      const bytes = Math.min(declared, holding.share);
      if (bytes <= SHORT_BYTES) return true;
      const turns = (holding.turns ??= newSemaphore({ permits: holding.share, waitingMax: WAITERS_MAX }));
      if (!(await waitForPermits(turns, bytes, { signal, clock, waitMsMax }))) return false;
      if (isReleased) turns.release(bytes);
      else turn = bytes;
      return true;
    },
    begin: (stop) => {
      if (isReleased) return;
      body.stop = stop;
      arrivals.add(body);
    },
    take: (arrived, held) => {
      arrivals.extend(body, arrived);
      return !isReleased && (held === 0 || memory.tryAdd(body, held));
    },
    pause: () => arrivals.pause(body),
    resume: () => arrivals.resume(body),
    end,
    drop,
    release: () => {
      if (isReleased) return;
      isReleased = true;
      drop();
      if (turn > 0) holding.turns?.release(turn);
      holding.bodies -= 1;
      if (holding.bodies === 0) holding.forget();
    },
  };
}

function openMemory(bytesMax: number, arrivals: Arrivals<Body>): Memory {
  const rooms = readRooms(bytesMax);
  let used = 0;
  const add = (body: Body, bytes: number): void => {
    body.held += bytes;
    body.holding.used += bytes;
    used += bytes;
  };
  const stopLargest = (gives: (other: Body) => boolean): boolean => {
    const largest = findLargest(arrivals, gives);
    if (largest === undefined) return false;
    // a stopped body drops its bytes
    add(largest, -largest.held);
    largest.stop?.('busy');
    return true;
  };
  const makeRoom = (body: Body, bytes: number): boolean => {
    const { holding } = body;
    const [ofBody, ofOwner] = [GIVES_WAY * (body.held + bytes), GIVES_WAY * (holding.used + bytes)];
    const isIdle = (other: Body): boolean => other !== body && arrivals.isBehind(other);
    const ofSameOwner = (other: Body): boolean => other.holding === holding && (other.held > ofBody || isIdle(other));
    const ofOthers = (other: Body): boolean =>
      other.holding !== holding && (other.holding.used > ofOwner || isIdle(other));
    while (holding.used + bytes > holding.share) if (!stopLargest(ofSameOwner)) return false;
    const room = rooms.of(body, bytes);
    while (used + bytes > room) if (!stopLargest(ofOthers)) return false;
    return true;
  };
  return {
    used: () => used,
    add,
    tryAdd: (body, bytes) => {
      const fits = body.holding.used + bytes <= body.holding.share && used + bytes <= rooms.of(body, bytes);
      if (!fits && !makeRoom(body, bytes)) return false;
      add(body, bytes);
      return true;
    },
  };
}

/** The bytes of all bodies up to which a body can take more. */
function readRooms(bytesMax: number): { of(body: Body, bytes: number): number } {
  const short = bytesMax - Math.floor(bytesMax / OPERATOR_RESERVE);
  const long = short - Math.floor(bytesMax / SHORT_RESERVE);
  return {
    of: ({ holding, held }, bytes) => {
      if (holding.isOperator) return bytesMax;
      return held + bytes <= SHORT_BYTES ? short : long;
    },
  };
}

/** Finds the largest body of the owner that has most. */
function findLargest(arrivals: Arrivals<Body>, gives: (other: Body) => boolean): Body | undefined {
  let largest: Body | undefined;
  for (const other of arrivals.list()) {
    if (other.held === 0 || !gives(other)) continue;
    const more = largest === undefined ? 1 : other.holding.used - largest.holding.used || other.held - largest.held;
    if (more > 0) largest = other;
  }
  return largest;
}

async function waitForPermits(
  permits: Semaphore,
  count: number,
  { signal, clock, waitMsMax }: { signal: AbortSignal; clock: Clock; waitMsMax: number },
): Promise<boolean> {
  // without waiting bodies, no timer is needed
  if (!signal.aborted && permits.waiting() === 0 && permits.tryAcquire(count)) return true;
  const [late, over] = [new AbortController(), new AbortController()];
  void clock.sleep(waitMsMax, over.signal).then(() => late.abort());
  try {
    await permits.acquire({ count, signal: AbortSignal.any([signal, late.signal]) });
    return true;
  } catch {
    return false;
  } finally {
    over.abort();
  }
}
