import { WrongCall, readSingleId } from '../command.ts';
import { WIDE_OPTION } from './table.ts';

const LIMIT_DEFAULT = 20;
const LIMIT_MAX = 100;

export const ACCOUNT_OPTION = { value: 'ID', means: 'the account of the endpoint', needed: true } as const;

/** The options of the lists of endpoints and deliveries. */
export const PAGE_OPTIONS = {
  limit: { value: 'N', means: `at most N, 1 to ${LIMIT_MAX}; default: ${LIMIT_DEFAULT}` },
  after: { value: 'ID', means: 'continue after this id, for the next page' },
  wide: WIDE_OPTION,
} as const;

export function pageQuery({ limit = String(LIMIT_DEFAULT), after = '' }: { limit?: string; after?: string }): {
  readonly limit: number;
  readonly after: string;
} {
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > LIMIT_MAX)
    throw new WrongCall(`--limit takes a whole number from 1 to ${LIMIT_MAX}, not ${limit}`);
  return { limit: Number(limit), after };
}

/** The endpoint that a command is called with. */
export function readEndpoint(
  words: readonly string[],
  { account = '' }: { account?: string },
): { readonly accountId: string; readonly endpointId: string } {
  return { accountId: account, endpointId: readSingleId(words, 'endpoint') };
}

/** The delivery that a command is called with. */
export function readDelivery(
  words: readonly string[],
  { account = '' }: { account?: string },
): { readonly accountId: string; readonly deliveryId: string } {
  return { accountId: account, deliveryId: readSingleId(words, 'delivery') };
}

/** The event types of a list such as `video.completed,video.failed`. */
export function parseEventTypes(list: string): string[] {
  return list
    .split(',')
    .map((type) => type.trim())
    .filter((type) => type !== '');
}
