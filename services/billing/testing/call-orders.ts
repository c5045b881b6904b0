import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { CallEndSchema, CallOrderSchema } from '@reelgate/proto/billing/v1/call_service';
import { Basis } from '@reelgate/proto/billing/v1/hold';
import type { TestBilling } from './open-billing.ts';

export const CHAT_PRICES = {
  chat: { per_million_tokens: { input: '1', output: '4', cached_input: '0.25' }, hold: '0.01' },
  chat__images_generations: { images: { free: 0, each: '0.04' } },
  hear: { per_second: '0.001', hold: '0.06' },
  speak: { per_million_characters: '15' },
  rank: { per_request: '0.002' },
  rerank: { per_search: '0.002' },
  claude: {
    per_million_tokens: { input: '1', output: '4', cached_input: '0.1', cache_write: '1.25', cache_write_1h: '2' },
    per_search: '0.01',
    hold: '0.05',
  },
};

export const HOUR_MS = 3_600_000;

type Order = Exclude<MessageInitShape<typeof CallOrderSchema>, { readonly $typeName: string }>;

/** At most a thousand input and a thousand output tokens: 0.005. */
export function callOrder(
  { tokenId, clock }: Pick<TestBilling, 'tokenId' | 'clock'>,
  callId: string,
  some: Order = {},
): Order {
  return {
    callId,
    accountId: 'demo',
    tokenId,
    priceKeys: ['chat__chat', 'chat'],
    facts: { inputTokens: 1000n, outputTokens: 1000n },
    lapsesAt: timestampFromMs(clock.now() + HOUR_MS),
    ...some,
  };
}

export function usedTokens(
  callId: string,
  inputTokens: bigint,
  outputTokens: bigint,
): MessageInitShape<typeof CallEndSchema> {
  return { callId, basis: Basis.USAGE, usage: { inputTokens, outputTokens } };
}
