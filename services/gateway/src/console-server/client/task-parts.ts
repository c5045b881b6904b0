import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { AccountCaller } from '../../clients/caller.ts';
import type { AccountBooks } from '../../clients/money-client.ts';
import type { TaskPages } from '../../clients/tasks-client.ts';
import type { ReadUsage } from '../../clients/usage-client.ts';
import type { Webhooks } from '../../clients/webhooks-client.ts';
import type { Links } from '../../dialects/dialect.ts';
import type { Catalogue } from '../../domain/model-defaults.ts';
import type { RateLimits } from '../../http/admission/limit-rate.ts';
import { requirePrincipal } from '../../http/http-exchange.ts';
import type { Exchange } from '../../http/http-exchange.ts';
import type { TaskReader } from '../../operations/read-task.ts';

/** The parts from which the pages about tasks read. */
export interface TaskPageParts {
  readonly clock: Clock;
  readonly log: Log;
  readonly reader: TaskReader;
  readonly links: Links;
  readonly usage: ReadUsage;
  readonly webhooks: Webhooks;
  readonly limits: RateLimits;
  readonly catalogue: () => Catalogue;
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
export async function ifReadable<T>(log: Log, what: string, read: Promise<T>): Promise<T | undefined> {
  try {
    return await read;
  } catch (error) {
    log.warn({ err: error, what }, 'a page of the console is shown in part');
    return undefined;
  }
}
