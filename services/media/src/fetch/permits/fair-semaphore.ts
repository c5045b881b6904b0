import type { Clock } from '@reelgate/platform/clock';
import { FetchFault } from '../../domain/fetch-fault.ts';

export type Release = () => void;

/**
 * The maximum number of idle accounts with a remembered permit time. An idle account neither holds nor awaits a permit.
 */
const IDLE_ACCOUNTS_MAX = 1024;
/** A waiting account can claim a permit of another account that has more than this many times its own permit time. */
const CLAIM_FACTOR = 2;
const TICK_MS = 100;

export function tooManyTransfers(detail?: string): FetchFault {
  return new FetchFault('busy', 'could not be fetched now: too many transfers are under way; try again', detail);
}

/** A transfer, as the semaphores see it. */
export interface Holder {
  readonly accountId: string;
  /** Recent speed in bytes per second. */
  speed(): number;
  /** Reports whether the transfer can be ended. It cannot be ended once its bytes have arrived. */
  mayYield(): boolean;
  /** Ends the transfer with a retryable refusal. The transfer releases its permits soon after. */
  yield(): void;
}

export interface FairSemaphoreOptions {
  readonly clock: Clock;
  readonly permits: number;
  /** The maximum number of waiting transfers of all accounts. */
  readonly waitingMax: number;
  /** A transfer keeps a permit for at least this long. */
  readonly yieldAfterMs: number;
  /** True if an account always keeps its last permit. */
  readonly keepsLast: boolean;
}

/**
 * Shares permits among accounts. A free permit goes to the waiting account that holds the fewest. In a tie it goes to
 * the account with the least recent permit time. If no permit is free, a transfer yields. It has had its permit for
 * `yieldAfterMs`, and its account holds more permits and has used far more permit time than the waiting account. The
 * account with the most permits gives up its slowest transfer.
 */
export interface FairSemaphore {
  /** Rejects with a busy FetchFault when the signal is aborted or too many transfers wait. */
  take(holder: Holder, signal: AbortSignal): Promise<Release>;
  /** Returns undefined if no permit is free. */
  tryTake(holder: Holder): Release | undefined;
  /** No account holds a permit or waits for one. */
  idle(): boolean;
}

interface HeldPermit {
  readonly holder: Holder;
  readonly account: Account;
  readonly since: number;
  yielding: boolean;
}

interface Waiter {
  readonly holder: Holder;
  /** The order of arrival. */
  readonly number: number;
  grant(release: Release): void;
  refuse(): void;
}

interface Account {
  readonly held: Set<HeldPermit>;
  readonly waiting: Waiter[];
  readonly time: PermitTime;
}

interface State {
  readonly options: FairSemaphoreOptions;
  readonly accounts: Map<string, Account>;
  readonly held: Set<HeldPermit>;
  waiting: number;
  /** The number of transfers that have waited so far. */
  waited: number;
  watching: boolean;
}

export function newFairSemaphore(options: FairSemaphoreOptions): FairSemaphore {
  const state: State = { options, accounts: new Map(), held: new Set(), waiting: 0, waited: 0, watching: false };
  return {
    take: (holder, signal) => take(state, holder, signal),
    tryTake: (holder) => (isFree(state) ? grant(state, holder) : undefined),
    idle: () => state.held.size === 0 && state.waiting === 0,
  };
}

const isFree = ({ held, options }: State): boolean => held.size < options.permits;

async function take(state: State, holder: Holder, signal: AbortSignal): Promise<Release> {
  if (signal.aborted) throw tooManyTransfers();
  if (isFree(state)) return grant(state, holder);
  const account = ensureAccount(state, holder.accountId);
  makeRoom(state, account);
  return new Promise<Release>((resolve, reject) => {
    const leave = (): void => {
      account.waiting.splice(account.waiting.indexOf(waiter), 1);
      state.waiting -= 1;
      signal.removeEventListener('abort', refuse);
    };
    const refuse = (): void => {
      leave();
      reject(tooManyTransfers());
    };
    const waiter: Waiter = {
      holder,
      refuse,
      number: state.waited,
      grant: (release) => {
        leave();
        resolve(release);
      },
    };
    signal.addEventListener('abort', refuse, { once: true });
    account.waiting.push(waiter);
    state.waiting += 1;
    state.waited += 1;
    void watch(state);
  });
}

function ensureAccount({ accounts, options }: State, id: string): Account {
  const known = accounts.get(id) ?? { held: new Set(), waiting: [], time: permitTime(options.clock.now()) };
  accounts.set(id, known);
  return known;
}

/** Makes room in a full queue: the longest account loses its last waiter, unless the newcomer would be as long. */
function makeRoom(state: State, newcomer: Account): void {
  if (state.waiting < state.options.waitingMax) return;
  const longest = state.accounts
    .values()
    .reduce((one, other) => (other.waiting.length > one.waiting.length ? other : one));
  if (longest.waiting.length <= newcomer.waiting.length + 1) throw tooManyTransfers();
  longest.waiting.at(-1)?.refuse();
}

function grant(state: State, holder: Holder): Release {
  const now = state.options.clock.now();
  const account = ensureAccount(state, holder.accountId);
  const held: HeldPermit = { holder, account, since: now, yielding: false };
  account.time.used(now, account.held.size);
  account.held.add(held);
  state.held.add(held);
  return () => {
    if (!state.held.delete(held)) return;
    account.time.used(state.options.clock.now(), account.held.size);
    account.held.delete(held);
    const [next] = claims(state);
    const waiter = next?.waiting[0];
    if (waiter === undefined) forgetIdle(state);
    else waiter.grant(grant(state, waiter.holder));
  };
}

/** The waiting accounts, the one with the best claim first. */
function claims({ accounts, options }: State): readonly Account[] {
  const now = options.clock.now();
  const waiting = [...accounts.values()].filter((account) => account.waiting.length > 0);
  const used = new Map(waiting.map((account) => [account, account.time.used(now, account.held.size)]));
  const usedBy = (account: Account): number => used.get(account) ?? 0;
  const numberOf = (account: Account): number => account.waiting[0]?.number ?? 0;
  return waiting.sort(
    (one, other) => one.held.size - other.held.size || usedBy(one) - usedBy(other) || numberOf(one) - numberOf(other),
  );
}

function forgetIdle({ accounts, options }: State): void {
  if (accounts.size <= IDLE_ACCOUNTS_MAX) return;
  const now = options.clock.now();
  const idle = [...accounts].filter(([, { held, waiting }]) => held.size === 0 && waiting.length === 0);
  const used = new Map(idle.map(([id, { time }]) => [id, time.used(now, 0)]));
  idle.sort(([one], [other]) => (used.get(one) ?? 0) - (used.get(other) ?? 0));
  for (const [id] of idle.slice(0, accounts.size - IDLE_ACCOUNTS_MAX / 2)) accounts.delete(id);
}

/** Asks transfers to yield as long as accounts wait. */
async function watch(state: State): Promise<void> {
  if (state.watching) return;
  state.watching = true;
  while (state.waiting > 0) {
    forceYield(state);
    await state.options.clock.sleep(TICK_MS);
  }
  state.watching = false;
}

function forceYield(state: State): void {
  const yielding = [...state.held].filter((held) => held.yielding).length;
  // the first accounts get the permits of transfers that are already yielding
  for (const waiting of claims(state).slice(yielding)) {
    const held = findPermitToYield(state, waiting);
    if (held === undefined) return;
    held.yielding = true;
    held.holder.yield();
  }
}

function findPermitToYield({ held, options }: State, waiting: Account): HeldPermit | undefined {
  const now = options.clock.now();
  const owing = new Map<Account, number>();
  for (const { account } of held) {
    if (!owing.has(account) && owes(options, account, waiting)) owing.set(account, countActive(account));
  }
  const hadItsTime = ({ holder, since, yielding }: HeldPermit): boolean =>
    !yielding && holder.mayYield() && now - since >= options.yieldAfterMs;
  const permitsOf = ({ account }: HeldPermit): number => owing.get(account) ?? 0;
  return [...held]
    .filter((one) => permitsOf(one) > 0 && hadItsTime(one))
    .sort((one, other) => permitsOf(other) - permitsOf(one) || one.holder.speed() - other.holder.speed())[0];
}

/**
 * Compares permit time, not speed: a fast transfer keeps other accounts out too. Each transfer that yields has had more
 * time than the one before, so long transfers finish although other accounts wait.
 */
function owes({ clock, keepsLast }: FairSemaphoreOptions, account: Account, waiting: Account): boolean {
  const more = countActive(account) - waiting.held.size;
  if (account === waiting || more < 1) return false;
  if (keepsLast) return more > 1;
  const used = (one: Account): number => one.time.used(clock.now(), one.held.size);
  return used(account) > CLAIM_FACTOR * used(waiting);
}

const countActive = ({ held }: Account): number => [...held].filter(({ yielding }) => !yielding).length;

/** The weight of past permit time halves in this time. */
const HALF_LIFE_MS = 30_000;
const MEAN_LIFE_MS = HALF_LIFE_MS / Math.LN2;

/** The recent permit time of one account, in milliseconds times permits. */
interface PermitTime {
  /** The permit time until `now`. The caller reads it before `held`, the number of permits, changes. */
  used(now: number, held: number): number;
}

function permitTime(start: number): PermitTime {
  let used = 0;
  let at = start;
  return {
    used: (now, held) => {
      // a clock that is set back does not count
      const kept = 2 ** (-Math.max(now - at, 0) / HALF_LIFE_MS);
      used = used * kept + held * MEAN_LIFE_MS * (1 - kept);
      at = now;
      return used;
    },
  };
}
