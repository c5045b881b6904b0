import type { RelayChannel } from '../channels/relay-channels.ts';
import { buildUsageRequest } from '../requests/upstream-request.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import type { UsageRequest } from '../protocols/protocol.ts';
import type { AttemptResult } from './attempt-result.ts';
import { forwardCall } from './forward-call.ts';
import type { CallContext } from './forward-call.ts';

/** A longer request is not searched for the words of a refusal, and the channel learns no lesson from it. */
const SEARCHED_BYTES_MAX = 1024 * 1024;

/**
 * Sends a call to a channel, with the request for usage if it needs one. An upstream that refuses this request has
 * generated no output: the call is sent once more without it, and the channel remembers it if that works. The client
 * never sees a refusal of members that it did not send.
 */
export async function attemptCall(context: CallContext, channel: RelayChannel): Promise<AttemptResult> {
  const { call, observer } = context;
  const asked = channel.usageRequests.mayAsk(call.model) ? buildUsageRequest(call) : undefined;
  const result = await observeAttempt(context, channel, asked);
  if (asked === undefined || !refusesUsage(call, asked, result)) return result;
  const repeated = await observeAttempt(context, channel, undefined);
  if (repeated.kind === 'answered' && !mayBeQuoted(call)) {
    channel.usageRequests.refused(call.model);
    observer.usageRefused(channel);
  }
  return repeated;
}

async function observeAttempt(
  context: CallContext,
  channel: RelayChannel,
  asked: UsageRequest | undefined,
): Promise<AttemptResult> {
  const startedAt = context.clock.now();
  const result = await forwardCall(context, channel, asked);
  context.observer.attempt(channel, result, startedAt);
  return result;
}

/** Reports whether an error is about the request for usage, and not about a member that the client sent itself. */
function refusesUsage({ endpoint, content }: RelayCall, { name }: UsageRequest, result: AttemptResult): boolean {
  const refusal = endpoint.protocol.stream.usageRefusal;
  if (result.kind !== 'error' || refusal === undefined || (content.json?.[name] ?? null) !== null) return false;
  return refusal.test(result.answer.body.toString('latin1'));
}

/** Reports whether the request holds the words itself. An error that quotes it must not decide for other accounts. */
function mayBeQuoted({ endpoint, content, body }: RelayCall): boolean {
  const refusal = endpoint.protocol.stream.usageRefusal;
  return body.length > SEARCHED_BYTES_MAX || refusal?.test(JSON.stringify(content.json)) !== false;
}
