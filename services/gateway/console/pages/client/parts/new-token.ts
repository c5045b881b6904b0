import type { NewToken, Right, TokenQueue } from '../../../api/tokens.ts';
import { DEFAULT_QUEUE } from '../../../parts/queue-fields.tsx';

export const COUNTS = ['createsPerMinute', 'readsPerMinute', 'callsPerMinute', 'inFlight'] as const;

/** The form of a new token as its fields have it. */
export interface TokenDraft {
  readonly name: string;
  readonly models: readonly string[];
  readonly isEveryModel: boolean;
  readonly limit: string;
  /** A local time, as the field writes it. */
  readonly expires: string;
  readonly webhooks: Right;
  readonly tokens: Right;
  readonly queue: TokenQueue;
  readonly label: string;
  readonly counts: Readonly<Partial<Record<(typeof COUNTS)[number], string>>>;
}

export const EMPTY_TOKEN: TokenDraft = {
  name: '',
  models: [],
  isEveryModel: false,
  limit: '',
  expires: '',
  webhooks: 'none',
  tokens: 'none',
  queue: DEFAULT_QUEUE,
  label: '',
  counts: {},
};

/** The body of the create. What is empty is left out. */
export function toNewToken(draft: TokenDraft): NewToken {
  const { name, models, isEveryModel, limit, expires, webhooks, tokens, queue, label, counts } = draft;
  const set = COUNTS.flatMap((field) => {
    const text = counts[field]?.trim() ?? '';
    return text === '' ? [] : [[field, Number(text)]];
  });
  return {
    name: name.trim(),
    models: isEveryModel ? ['*'] : models,
    ...(limit.trim() === '' ? {} : { limit: limit.trim() }),
    ...(expires === '' ? {} : { expiresAt: new Date(expires).getTime() }),
    webhooks,
    tokens,
    ...queue,
    ...(label.trim() === '' ? {} : { label: label.trim() }),
    ...(Object.fromEntries(set) as Pick<NewToken, (typeof COUNTS)[number]>),
  };
}
