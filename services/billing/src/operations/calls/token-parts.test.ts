import { expect, test } from '@jest/globals';
import type { MessageInitShape } from '@bufbuild/protobuf';
import type { CallEndSchema } from '@reelgate/proto/billing/v1/call_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import { CENT, DOLLAR, books, expectSound } from '../../../testing/books.ts';
import { CHAT_PRICES, callOrder } from '../../../testing/call-orders.ts';
import { describeOnEngines } from '../../../testing/describe-on-engines.ts';
import { aConfig } from '../../../testing/open-billing.ts';

type Facts = NonNullable<Parameters<typeof callOrder>[2]>['facts'];
type End = Exclude<MessageInitShape<typeof CallEndSchema>, { readonly $typeName: string }>;

const MILL = CENT / 10n;
const THOUSANDS = { inputTokens: 1000n, outputTokens: 1000n };
const byUsage = (usage: NonNullable<End['usage']>): End => ({ basis: Basis.USAGE, usage });

describeOnEngines('calls with priced parts', (open) => {
  test.each<[string, string, Facts, End, bigint, Basis]>([
    [
      'each part of the tokens by its price',
      'claude',
      THOUSANDS,
      byUsage({
        inputTokens: 1000n,
        cachedInputTokens: 400n,
        outputTokens: 100n,
        parts: { cacheWrite: 300n, cacheWrite1h: 100n },
      }),
      300_000n + 40_000n + 250_000n + 200_000n + 400_000n,
      Basis.USAGE,
    ],
    [
      'the searches beside the tokens',
      'claude',
      { ...THOUSANDS, searches: 3n },
      byUsage({ inputTokens: 1000n, searches: 2n }),
      MILL + 2n * CENT,
      Basis.USAGE,
    ],
    [
      'no search that was not reported',
      'claude',
      { ...THOUSANDS, searches: 3n },
      byUsage({ inputTokens: 1000n }),
      MILL,
      Basis.USAGE,
    ],
    ['searches alone', 'rerank', { searches: 1n }, byUsage({ searches: 3n }), 6n * MILL, Basis.USAGE],
    ['searches as they were ordered', 'rerank', { searches: 1n }, { basis: Basis.USAGE }, 2n * MILL, Basis.ESTIMATE],
    [
      'the dearest parts that their hold can be, if nothing is reported',
      'claude',
      { ...THOUSANDS, searches: 1n },
      { basis: Basis.HOLD },
      2n * MILL + 4n * MILL + CENT,
      Basis.HOLD,
    ],
  ])('are charged %s', async (_what, key, facts, end, amountNanos, basis) => {
    const on = await open(aConfig({ prices: CHAT_PRICES }));
    await on.calls.placeCalls({ calls: [callOrder(on, 'call_1', { priceKeys: [key], facts })] });

    const { settlements } = await on.calls.settleCalls({ ends: [{ callId: 'call_1', ...end }] });

    expect(settlements).toMatchObject([{ amountNanos, basis }]);
    expect(await books(on)).toEqual({ balance: 100n * DOLLAR - amountNanos, held: 0n, used: amountNanos });
    await expectSound(on);
  });
});
