import type { NewToken, Right } from '../../../api/tokens.ts';

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
  counts: {},
};

/** The body of the create. What is empty is left out. */
export function toNewToken(draft: TokenDraft): NewToken {
  const { name, models, isEveryModel, limit, expires, webhooks, tokens, counts } = draft;
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
    ...(Object.fromEntries(set) as Pick<NewToken, (typeof COUNTS)[number]>),
  };
}
