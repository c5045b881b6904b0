import { readExchangeBody } from '../http/bodies/exchange-body.ts';
import type { Exchange } from '../http/exchange.ts';
import type { BodyBudget } from '../http/bodies/body-budget.ts';

/** No form of the console is larger. */
const BODY_BYTES_MAX = 64 * 1024;

/** Reads the small JSON body of a request of the console. */
export async function readJsonBody(exchange: Exchange, { budget }: { readonly budget: BodyBudget }): Promise<unknown> {
  const read = await readExchangeBody(exchange, { budget, limits: { bodyBytes: BODY_BYTES_MAX } }, false);
  return 'json' in read ? read.json : undefined;
}
