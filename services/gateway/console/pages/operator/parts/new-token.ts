import type { NewToken, Right, TokenQueue } from '../../../api/tokens.ts';
import { DEFAULT_QUEUE } from '../../../parts/queue-fields.tsx';
import { readLimits, toLimitTexts } from './token-limits.ts';
import type { LimitFaults, LimitTexts } from './token-limits.ts';

/** A token as a form holds it. */
export interface NewTokenTexts {
  readonly name: string;
  /** One on each line. */
  readonly models: string;
  /** A date; empty: never. */
  readonly expires: string;
  readonly webhooks: Right;
  readonly tokens: Right;
  readonly queue: TokenQueue;
  readonly limits: LimitTexts;
}

export const NEW_TOKEN: NewTokenTexts = {
  name: '',
  models: '*',
  expires: '',
  webhooks: 'write',
  tokens: 'none',
  queue: DEFAULT_QUEUE,
  limits: toLimitTexts({ limits: {} }),
};

/** The token that a form describes; undefined: it is not complete, or its limits have faults. */
export function readNewToken({ name, models, expires, webhooks, tokens, queue, limits }: NewTokenTexts): {
  readonly token: NewToken | undefined;
  readonly faults: LimitFaults;
} {
  const { values, faults } = readLimits(limits);
  const named = parseModels(models);
  const expiresAt = parseExpiry(expires);
  const isWhole = name.trim() !== '' && named.length > 0 && Object.keys(faults).length === 0;
  const token = {
    ...{ name: name.trim(), models: named, webhooks, tokens, ...queue, ...values },
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { token: isWhole ? token : undefined, faults };
}

/** The models that a text names, one on each line or between commas, each once. */
export function parseModels(text: string): readonly string[] {
  const models = text.split(/[\n,]/).map((model) => model.trim());
  return [...new Set(models.filter((model) => model !== ''))];
}

/** The end of a day in UTC; undefined: the text names none. */
function parseExpiry(date: string): number | undefined {
  const at = Date.parse(`${date}T23:59:59.999Z`);
  return Number.isNaN(at) ? undefined : at;
}
