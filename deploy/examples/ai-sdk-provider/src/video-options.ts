import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import { parseProviderOptions } from '@ai-sdk/provider-utils';
import { z } from 'zod/v4';

/** Other members are refused: a `max_amount` with a typing error must not order without a bound. */
const videoOptions = z.strictObject({
  /** Decimal text. A create that would hold more is refused. */
  max_amount: z.string().optional(),
  /** The currency of `max_amount`, if it is to be checked against that of the account. */
  currency: z.string().optional(),
  /** A resolution of the model by its name, such as `2K`. It replaces the `resolution` of the call. */
  resolution: z.string().optional(),
  /** `url`: the result is the signed link of the video, instead of its bytes. */
  output: z.enum(['bytes', 'url']).optional(),
  /** Further members of the body of `POST /v1/videos`. */
  extra: z.record(z.string(), z.json()).optional(),
});

/** The options under `providerOptions.reelgate`. */
export type ReelgateVideoOptions = z.infer<typeof videoOptions>;

export async function readVideoOptions(providerOptions: SharedV4ProviderOptions): Promise<ReelgateVideoOptions> {
  const options = await parseProviderOptions({ provider: 'reelgate', providerOptions, schema: videoOptions });
  return options ?? {};
}
