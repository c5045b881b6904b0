import { formatAmount } from './money.ts';
import { TOKEN_CLASSES, TOKEN_WAITS } from './token.ts';
import type { TokenLimits, TokenRights } from './token.ts';

/** A field of a new token that goes beyond its maker. */
export interface Excess {
  readonly field: string;
  readonly message: string;
}

const RANKS = { none: 0, read: 1, write: 2 } as const;
const EVERY_MODEL = '*';
const LIMIT_FIELDS: readonly (readonly [keyof TokenLimits, field: string])[] = [
  ['createsPerMinute', 'limits.creates_per_minute'],
  ['readsPerMinute', 'limits.reads_per_minute'],
  ['callsPerMinute', 'limits.calls_per_minute'],
  ['inFlight', 'limits.in_flight'],
];

/**
 * Returns the first field in which the new token would exceed its maker, or undefined if there is no such field.
 * `configured` holds the limits of a token without its own, as far as they are known.
 */
export function findExcess(wanted: TokenRights, maker: TokenRights, configured: TokenLimits): Excess | undefined {
  return (
    findModelExcess(wanted, maker) ??
    findRightExcess(wanted, maker) ??
    findExpiryExcess(wanted, maker) ??
    findSpendingExcess(wanted, maker) ??
    findLimitExcess(wanted, maker, configured) ??
    findQueueExcess(wanted, maker)
  );
}

function findModelExcess({ models }: TokenRights, maker: TokenRights): Excess | undefined {
  if (maker.models.includes(EVERY_MODEL) || models.every((model) => maker.models.includes(model))) return undefined;
  return {
    field: 'models',
    message: `must be among the models of the token that makes it: ${maker.models.join(', ')}`,
  };
}

function findRightExcess(wanted: TokenRights, maker: TokenRights): Excess | undefined {
  const field = (['webhooks', 'tokens'] as const).find((right) => RANKS[wanted[right]] > RANKS[maker[right]]);
  return field && { field, message: `must be at most ${maker[field]}, the right of the token that makes it` };
}

function findExpiryExcess({ expiresAt = Infinity }: TokenRights, maker: TokenRights): Excess | undefined {
  if (maker.expiresAt === undefined || expiresAt <= maker.expiresAt) return undefined;
  const last = new Date(maker.expiresAt).toISOString();
  return { field: 'expires_at', message: `must be at most ${last}, when the token that makes it expires` };
}

function findSpendingExcess({ limit }: TokenRights, maker: TokenRights): Excess | undefined {
  if (maker.limit === undefined || (limit !== undefined && limit <= maker.limit)) return undefined;
  const most = formatAmount(maker.limit);
  return { field: 'limit_nanos', message: `must be at most ${most}, the limit of the token that makes it` };
}

/**
 * The new token keeps a limit of its maker, or has a lower limit. If the maker has no limit, it may go below the
 * configured limit.
 */
function findLimitExcess({ limits }: TokenRights, maker: TokenRights, configured: TokenLimits): Excess | undefined {
  for (const [name, field] of LIMIT_FIELDS) {
    const [wanted, own] = [limits[name], maker.limits[name]];
    if (wanted === undefined && own === undefined) continue;
    const most = own ?? configured[name];
    if (most === undefined)
      return { field, message: 'must be absent, because the token that makes it has no such limit of its own' };
    if (wanted === undefined || wanted > most)
      return { field, message: `must be from 1 to ${most}, the limit of the token that makes it` };
  }
  return undefined;
}

function findQueueExcess({ queue }: TokenRights, maker: TokenRights): Excess | undefined {
  if (TOKEN_WAITS.indexOf(queue.wait) > TOKEN_WAITS.indexOf(maker.queue.wait))
    return { field: 'queue.wait', message: 'must be no wider than that of the token that makes it' };
  if (TOKEN_CLASSES.indexOf(queue.class) > TOKEN_CLASSES.indexOf(maker.queue.class))
    return {
      field: 'queue.class',
      message: `must be at most ${maker.queue.class}, the class of the token that makes it`,
    };
  return undefined;
}
