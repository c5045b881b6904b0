import { directClient } from '@reelgate/platform/rpc/direct-client';
import { bind } from '@reelgate/platform/rpc/service';
import type { Client } from '@reelgate/platform/rpc/service';
import { aCaller } from '@reelgate/platform/testing/a-caller';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import type {
  ChargedItemSchema,
  GetUsageRequest,
  ListChargedItemsRequest,
  UsageSchema,
} from '@reelgate/proto/billing/v1/usage_service';

/** A usage service with the same answer for every account. It records its calls. */
export interface FakeUsage {
  readonly client: Client<typeof UsageService>;
  readonly asked: GetUsageRequest[];
  name: string;
  /** The count of requests in every total. */
  requests: bigint;
  /** What every statement has instead of one group; undefined: one group. */
  groups: MessageInitShape<typeof UsageSchema>[] | undefined;
  /** The charges of every account. A page has at most `limit` of them. */
  items: MessageInitShape<typeof ChargedItemSchema>[];
  readonly askedItems: ListChargedItemsRequest[];
  /** Thrown by every call, while it is set. */
  refusal: Error | undefined;
}

export function fakeUsage(): FakeUsage {
  const asked: GetUsageRequest[] = [];
  const askedItems: ListChargedItemsRequest[] = [];
  const fake: Pick<FakeUsage, 'name' | 'requests' | 'groups' | 'items' | 'refusal'> = {
    name: 'main',
    requests: 2n,
    groups: undefined,
    items: [],
    refusal: undefined,
  };
  const sum = {
    amountNanos: 730_000_000n,
    seconds: 11n,
    inputTokens: 1500n,
    cachedInputTokens: 400n,
    outputTokens: 100n,
    images: 2n,
  };
  const client = directClient(
    UsageService,
    bind(UsageService, {
      getUsage: async (request) => {
        asked.push(request);
        if (fake.refusal !== undefined) throw fake.refusal;
        const groups = fake.groups ?? [{ key: '2026-01-01', name: fake.name, ...sum, requests: 2n }];
        return { groups, total: { ...sum, requests: fake.requests }, currency: 'USD' };
      },
      listChargedItems: async (request) => {
        askedItems.push(request);
        if (fake.refusal !== undefined) throw fake.refusal;
        const from = Number(request.after);
        const to = from + request.limit;
        return {
          items: fake.items.slice(from, to),
          currency: 'USD',
          continueAfter: to < fake.items.length ? String(to) : '',
        };
      },
    }),
    aCaller(),
  );
  return Object.assign(fake, { client, asked, askedItems });
}
