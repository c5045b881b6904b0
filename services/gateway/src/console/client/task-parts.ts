import type { AccountCaller } from '../../clients/caller.ts';
import type { AccountBooks } from '../../clients/money-client.ts';
import type { TaskPages } from '../../clients/task-pages-client.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { GatewayParts } from '../../http/gateway-parts.ts';

/** The parts from which the pages about tasks read. */
export interface TaskPageParts extends GatewayParts {
  readonly books: AccountBooks;
  readonly taskPages: TaskPages;
  readonly publicUrl: string;
}

export function toAccountCaller(exchange: Exchange): AccountCaller {
  const { requestId, span } = exchange.state;
  return { accountId: requirePrincipal(exchange).accountId, requestId, span };
}

/**
 * Resolves to undefined if a part of a page cannot be read now. The page is then shown without it: a service that is
 * away takes no page with it.
 */
export async function ifReadable<T>(log: GatewayParts['log'], what: string, read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    log.warn({ err: error, what }, 'a page of the console is shown in part');
    return undefined;
  }
}
