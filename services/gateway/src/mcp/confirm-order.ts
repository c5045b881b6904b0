import type { Problem } from '@reelgate/platform/problem';
import type { Secret } from '@reelgate/platform/secret';
import { readSignedName, signName } from '@reelgate/platform/signatures';
import { formatDecimal } from '../domain/decimal.ts';
import type { ToolCall, ToolQuestion } from './mcp-tool.ts';
import { refuse } from '../refusals.ts';

/** A person answers within this time, or is asked again. */
const VALID_MS = 5 * 60_000;

/** The order that a person confirms: its caller, and a digest of its arguments. */
interface ConfirmedOrder {
  readonly call: ToolCall;
  readonly fingerprint: string;
}

/** An order with the price that a person confirms. */
export interface OrderPrice extends ConfirmedOrder {
  /** The most that the order may hold, in billionths. */
  readonly nanos: bigint;
  readonly currency: string;
}

/**
 * Asks for the confirmation of a price. A client that can ask its user gets a question, any other client a refusal. The
 * code in both is signed. It belongs to the token, the arguments and the price, so it cannot confirm another order.
 */
export function askToConfirm(keys: readonly Secret[], order: OrderPrice, now: number): ToolQuestion {
  const [key] = keys;
  if (key === undefined) throw new Error('a gateway has a key that signs');
  const amount = formatDecimal(order.nanos);
  const code = signName(key, nameConfirmation(order, order.nanos, now + VALID_MS));
  if (order.call.answers.canAsk)
    return { question: `This video costs ${amount} ${order.currency}. Order it?`, state: code };
  throw confirmationRequired('needs the agreement of the user to its amount', {
    amount,
    currency: order.currency,
    confirmation: code,
  });
}

/**
 * Returns the amount that a person has confirmed for these arguments; undefined if no amount is confirmed, or the
 * confirmation is too old.
 */
export function readConfirmed(
  keys: readonly Secret[],
  order: ConfirmedOrder,
  given: string | undefined,
  now: number,
): bigint | undefined {
  const { answer, state } = order.call.answers;
  if (answer === 'decline' || answer === 'cancel') throw confirmationRequired('was not agreed to by the user');
  const code = given ?? (answer === 'accept' ? state : undefined);
  const name = code === undefined ? undefined : readSignedName(keys, code);
  const [, nanos = '', expiresAt = ''] = /\.(\d{1,20})\.(\d{1,16})$/.exec(name ?? '') ?? [];
  if (name === undefined || nanos === '' || Number(expiresAt) < now) return undefined;
  return name === nameConfirmation(order, BigInt(nanos), Number(expiresAt)) ? BigInt(nanos) : undefined;
}

function nameConfirmation(
  { call: { principal }, fingerprint }: ConfirmedOrder,
  nanos: bigint,
  expiresAt: number,
): string {
  return `${principal.tokenId}.${fingerprint}.${nanos}.${expiresAt}`;
}

function confirmationRequired(message: string, metadata?: Readonly<Record<string, string>>): Problem {
  return refuse('confirmation_required', { message: `the order ${message}`, ...(metadata && { metadata }) });
}
