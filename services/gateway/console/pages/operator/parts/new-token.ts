import type { RpcRequest } from '../../../api/calls.ts';
import type { Right, TokenQueue } from '../../../api/tokens.ts';
import { toEnumName } from '../../../parts/contract-values.ts';
import { DEFAULT_QUEUE } from '../../../parts/queue-fields.tsx';
import { readLimits, toLimitTexts } from './limit-fields.tsx';
import type { LimitFaults, LimitTexts } from './limit-fields.tsx';

type NewToken = Omit<RpcRequest<'billing.AccountService/CreateToken'>, 'accountId'>;

/** A token as a form holds it. */
export interface NewTokenTexts {
  readonly name: string;
  /** One on each line. */
  readonly models: string;
  /** A date, or empty for a token that does not expire. */
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
  limits: toLimitTexts({}),
};

/** The token that a form describes; undefined if it is not complete or its limits have faults. */
export function readNewToken({ name, models, expires, webhooks, tokens, queue, limits }: NewTokenTexts): {
  readonly token: NewToken | undefined;
  readonly faults: LimitFaults;
} {
  const { values, faults } = readLimits(limits);
  const named = parseModels(models);
  const expiresAt = parseExpiry(expires);
  const isWhole = name.trim() !== '' && named.length > 0 && Object.keys(faults).length === 0;
  const token = {
    ...{ name: name.trim(), models: [...named], ...values },
    webhooks: toEnumName('WEBHOOK_RIGHT_', webhooks),
    tokens: toEnumName('TOKEN_RIGHT_', tokens),
    queue: toWireQueue(queue),
    ...(expiresAt === undefined ? {} : { expiresAt }),
  };
  return { token: isWhole ? token : undefined, faults };
}

/** The models that a text names, one on each line or between commas, each once. */
export function parseModels(text: string): readonly string[] {
  const models = text.split(/[\n,]/).map((model) => model.trim());
  return [...new Set(models.filter((model) => model !== ''))];
}

/** The end of a day in UTC; undefined if the text is no date. */
function parseExpiry(date: string): string | undefined {
  const end = `${date}T23:59:59.999Z`;
  return Number.isNaN(Date.parse(end)) ? undefined : end;
}

export function toWireQueue({ wait, class: best }: TokenQueue): NonNullable<NewToken['queue']> {
  return { wait: toEnumName('TOKEN_WAIT_', wait), class: toEnumName('TOKEN_CLASS_', best) };
}
