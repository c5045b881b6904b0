import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { assertOwner } from '@reelgate/platform/rpc/access';
import { deriveWords } from '@reelgate/platform/rpc/enum-words';
import { requireField } from '@reelgate/platform/rpc/rules';
import { bind } from '@reelgate/platform/rpc/service';
import type { Binding, Implementation } from '@reelgate/platform/rpc/service';
import { AccountOrder, AccountService, MarginBucket, MarginSplit } from '@reelgate/proto/billing/v1/account_service';
import { UsageGroup, UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { creditAccount, listAccounts, findAccount } from '../operations/accounts/accounts.ts';
import type { BillingDeps } from '../operations/deps.ts';
import { getMargins } from '../operations/money/get-margins.ts';
import { getMoney } from '../operations/money/get-money.ts';
import { changeTokenLimits, createToken, revokeToken } from '../operations/tokens/manage-tokens.ts';
import { listTokens } from '../operations/tokens/read-tokens.ts';
import { diagnoseLedger, verifyLedger } from '../operations/check-ledger.ts';
import {
  fromWireLimits,
  fromWireQueue,
  fromWireTokenRequest,
  toWireListedToken,
  toWireToken,
} from './token-mapping.ts';
import { getUsage, listChargedItems } from '../operations/usage/read-usage.ts';

type Methods = Partial<Implementation<typeof AccountService>>;

const ORDERS = deriveWords(AccountOrder, 'id');
const SPLITS = deriveWords(MarginSplit);
const BUCKETS = deriveWords(MarginBucket, 'day');
const LIST_DEFAULT = 50;
const MARGIN_GROUPS_DEFAULT = 20;

export function accountService(deps: BillingDeps): Binding {
  return bind(AccountService, { ...accountMethods(deps), ...tokenMethods(deps), ...ledgerMethods(deps) });
}

function accountMethods(deps: BillingDeps) {
  return {
    getAccount: async ({ id }) => ({ account: await findAccount(deps, id, 'id') }),
    creditAccount: async ({ id, amountNanos, reason, actor, requestId }, { caller, signal }) => {
      const account = await creditAccount(
        deps,
        {
          accountId: id,
          amount: amountNanos,
          reason,
          actor: actor || caller.name,
          requestId: requestId || undefined,
        },
        signal,
      );
      return { account };
    },
    listAccounts: async ({ limit, after, order, prefix }) => {
      const query = { limit: readLimit(limit), after, prefix, order: ORDERS[order] };
      const { accounts, hasMore } = await listAccounts(deps, query);
      return { accounts: [...accounts], hasMore };
    },
    listCredits: async ({ accountId, limit }) => {
      await findAccount(deps, accountId, 'account_id');
      return { credits: [...(await deps.accounts.credits(accountId, readLimit(limit)))] };
    },
    listActs: async ({ limit, after, subject }) => ({
      acts: [...(await deps.acts.list({ limit: readLimit(limit), after, subject }))],
    }),
    listPrices: async () => ({ contracts: [...(await deps.prices.list())] }),
  } satisfies Methods;
}

function tokenMethods(deps: BillingDeps) {
  return {
    createToken: async (request, { caller, signal }) => {
      const made = await createToken(deps, fromWireTokenRequest(request, caller.name), signal);
      return { token: toWireToken(made.token), key: made.key.reveal() };
    },
    listTokens: async ({ accountId, id, hint }) => {
      const question = { accountId: accountId || undefined, id: id || undefined, hint: hint || undefined };
      const listed = await listTokens(deps, question);
      return { tokens: listed.map(toWireListedToken) };
    },
    revokeToken: async ({ id, revokerTokenId, actor, withMade }, { caller }) => {
      assertOwner(caller, (await deps.tokens.find(id))?.accountId, 'id');
      const request = { id, revokerId: revokerTokenId || undefined, actor: actor || caller.name, withMade };
      const { token, madeRevoked } = await revokeToken(deps, request);
      return { token: toWireToken(token), madeRevoked };
    },
    updateTokenLimits: async ({ id, limitNanos, limits, actor, reason, ...more }, { caller }) => {
      assertOwner(caller, (await deps.tokens.find(id))?.accountId, 'id');
      const { queue, label, confirmAboveNanos: above } = more;
      const replaced = {
        ...{ limit: limitNanos, limits: fromWireLimits(limits), queue: fromWireQueue(queue), label },
        confirmAbove: above !== undefined && above < 0n ? ('never' as const) : above,
      };
      const change = { id, ...replaced, actor: actor || caller.name, reason };
      return { token: toWireToken(await changeTokenLimits(deps, change)) };
    },
  } satisfies Methods;
}

function ledgerMethods(deps: BillingDeps) {
  return {
    rebuildBalances: async (_request, { caller }) => {
      const { accountIds, tokenIds } = await deps.audit.rebuild();
      deps.log.warn({ actor: caller.name, accountIds, tokenIds }, 'the cached sums were rebuilt from the ledger');
      return { accountIds: [...accountIds], tokenIds: [...tokenIds] };
    },
    getMoney: async (request) => getMoney(deps, readPeriod(request)),
    getMargins: async ({ splitBy, bucket, key, limit, ...period }, { signal }) => {
      const query = {
        ...readPeriod(period),
        split: requireField(SPLITS[splitBy], 'split_by'),
        bucket: BUCKETS[bucket],
        key: key || undefined,
        limit: limit || MARGIN_GROUPS_DEFAULT,
      };
      return { groups: await getMargins(deps, query, signal) };
    },
    verifyLedger: async ({ actor, diagnosis }, { caller, signal }) => {
      const { isTooLarge, entries, sums, faults, openHoldTaskIds, calls } = diagnosis
        ? await diagnoseLedger(deps, signal)
        : await verifyLedger(deps, actor || caller.name, signal);
      return {
        ok: faults.length === 0 && !isTooLarge,
        tooLarge: isTooLarge,
        entries,
        sums: Object.fromEntries(sums),
        faults: [...faults],
        openHoldTaskIds: [...openHoldTaskIds],
        openCalls: calls.open,
        overdueCalls: calls.overdue,
      };
    },
  } satisfies Methods;
}

/** The size of a page. The wire cannot distinguish zero from absent. */
function readLimit(limit: number): number {
  return limit === 0 ? LIST_DEFAULT : limit;
}

const GROUPS = deriveWords(UsageGroup);

export function usageService(deps: BillingDeps): Binding {
  return bind(UsageService, {
    getUsage: async ({ accountId, groupBy, splitBy, ...period }) => {
      const query = { accountId, groupBy: requireField(GROUPS[groupBy], 'group_by'), splitBy: GROUPS[splitBy] };
      return getUsage(deps, query, readPeriod(period));
    },
    listChargedItems: async (request) => listChargedItems(deps, request, readPeriod(request)),
  });
}

interface WirePeriod {
  readonly from?: Timestamp | undefined;
  readonly to?: Timestamp | undefined;
}

function readPeriod({ from, to }: WirePeriod): { readonly from: number; readonly to: number } {
  return { from: timestampMs(requireField(from, 'from')), to: timestampMs(requireField(to, 'to')) };
}
