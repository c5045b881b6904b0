import type { AccountCaller } from '../../clients/account-caller.ts';
import type { AccountBooks } from '../../clients/money-client.ts';
import type { TaskPages } from '../../clients/task-pages-client.ts';
import { principalOf } from '../../http/exchange.ts';
import type { Exchange } from '../../http/exchange.ts';
import type { GatewayParts } from '../../http/gateway-parts.ts';

/** What the pages about tasks read from. */
export interface TaskPageParts extends Pick<
  GatewayParts,
  'clock' | 'log' | 'reader' | 'links' | 'usage' | 'webhooks' | 'catalogue' | 'limits'
> {
  readonly books: AccountBooks;
  readonly taskPages: TaskPages;
  readonly publicUrl: string;
}

export function callerOf(exchange: Exchange): AccountCaller {
  const { requestId, span } = exchange.state;
  return { accountId: principalOf(exchange).accountId, requestId, span };
}

/** What a page shows without, if it cannot be read now: a service that is away takes no page with it. */
export async function ifReadable<T>(log: GatewayParts['log'], what: string, read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    log.warn({ err: error, what }, 'a page of the console is shown in part');
    return undefined;
  }
}
