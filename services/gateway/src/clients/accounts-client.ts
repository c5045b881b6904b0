import { deriveValues } from '@reelgate/platform/rpc/enum-words';
import type { EnumWord } from '@reelgate/platform/rpc/enum-words';
import { AccountOrder } from '@reelgate/proto/billing/v1/account_service';
import type { Account as WireAccount } from '@reelgate/proto/billing/v1/account_service';
import type { Credit as WireCredit } from '@reelgate/proto/billing/v1/money';
import { withDeadline } from './caller.ts';
import type { AccountCaller, Caller } from './caller.ts';
import type { OperatorClients } from './gateway-clients.ts';
import { toMs, requireValue } from './wire-values.ts';
import type { MessageMapping } from './wire-values.ts';

const CREDITS_MAX = 50;

export interface Account {
  readonly id: string;
  readonly currency: string;
  readonly balanceNanos: bigint;
  readonly heldNanos: bigint;
  readonly createdAt: number;
}

/** Money that was added to an account; negative: it was taken back. */
export interface Credit {
  readonly at: number;
  readonly amountNanos: bigint;
  readonly reason: string;
  readonly actor: string;
}

export interface AccountsQuestion {
  /** 1 to 200. */
  readonly limit: number;
  /** By `balance`, the least free first, there is only one page. */
  readonly order: EnumWord<typeof AccountOrder>;
  readonly prefix: string | undefined;
  readonly after: string | undefined;
}

export interface NewCredit {
  readonly amountNanos: bigint;
  readonly reason: string;
  readonly actor: string;
  /** A repeat with the same id changes nothing. */
  readonly requestId: string;
}

/** The accounts as operators see them, in the gateway's types. */
export interface Accounts {
  list(
    question: AccountsQuestion,
    call: Caller,
  ): Promise<{ readonly accounts: readonly Account[]; readonly hasMore: boolean }>;
  get(caller: AccountCaller): Promise<Account>;
  /** Returns the account after the credit. */
  credit(caller: AccountCaller, credit: NewCredit): Promise<Account>;
  /** Lists the last credits, newest first. */
  credits(caller: AccountCaller): Promise<readonly Credit[]>;
}

const ORDERS = deriveValues(AccountOrder);

export function accountsClient({ accounts: rpc }: OperatorClients): Accounts {
  return {
    list: async ({ limit, order, prefix = '', after = '' }, call) => {
      const request = { limit, order: ORDERS[order], prefix, after };
      const { accounts, hasMore } = await rpc.listAccounts(request, withDeadline(call));
      return { accounts: accounts.map(fromWireAccount), hasMore };
    },
    get: async ({ accountId: id, ...call }) =>
      fromWireAccount(requireValue((await rpc.getAccount({ id }, withDeadline(call))).account)),
    credit: async ({ accountId: id, ...call }, credit) =>
      fromWireAccount(requireValue((await rpc.creditAccount({ id, ...credit }, withDeadline(call))).account)),
    credits: async ({ accountId, ...call }) => {
      const { credits } = await rpc.listCredits({ accountId, limit: CREDITS_MAX }, withDeadline(call));
      return credits.map(fromWireCredit);
    },
  };
}

function fromWireAccount({ id, currency, balanceNanos, heldNanos, createdAt }: WireAccount): Account {
  return {
    id,
    currency,
    balanceNanos,
    heldNanos,
    createdAt: toMs(createdAt) ?? 0,
  } satisfies MessageMapping<WireAccount>;
}

function fromWireCredit({ at, amountNanos, reason, actor }: WireCredit): Credit {
  return { at: toMs(at) ?? 0, amountNanos, reason, actor } satisfies MessageMapping<WireCredit, 'key'>;
}
