import { isRecent } from '@reelgate/platform/clock';
import type { TimeSource } from '@reelgate/platform/clock';

/** An answer of a channel counts for this time. */
const RECENT_MS = 10 * 60_000;

/** The accounts that know how a channel answers orders. */
export interface FaultWitnesses {
  /** The channel has taken an order of this account. */
  accepted(accountId: string): void;
  /**
   * An order of this account met a fault of the channel. Returns whether the account is alone with it: no other account
   * met one within ten minutes, and the channel took an order of another one. Its orders may then be the cause.
   */
  isAloneWithFault(accountId: string): boolean;
}

export function newFaultWitnesses(clock: TimeSource): FaultWitnesses {
  const met = newLastAccounts(clock);
  const served = newLastAccounts(clock);
  return {
    accepted: served.add,
    isAloneWithFault: (accountId) => {
      met.add(accountId);
      return !met.hasOther(accountId) && served.hasOther(accountId);
    },
  };
}

/** The last two accounts and their times. Two are enough to know whether there is another one. */
function newLastAccounts(clock: TimeSource) {
  let times: readonly { readonly accountId: string; readonly at: number }[] = [];
  return {
    add: (accountId: string): void => {
      const [other] = times.filter((one) => one.accountId !== accountId);
      times = [{ accountId, at: clock.now() }, ...(other === undefined ? [] : [other])];
    },
    hasOther: (accountId: string): boolean =>
      times.some((one) => one.accountId !== accountId && isRecent(clock, one.at, RECENT_MS)),
  };
}
