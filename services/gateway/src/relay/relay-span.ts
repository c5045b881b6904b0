import type { Clock } from '@reelgate/platform/clock';
import { readErrorType } from '@reelgate/platform/trace/error-type';
import type { Attributes, Span } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace-none';
import type { AttemptEnd } from './attempts/forward-call.ts';
import { isFault } from './attempts/try-channels.ts';
import type { CallOutcome } from './attempts/try-channels.ts';
import type { RelayChannel } from './channels/relay-channels.ts';
import type { Charge } from './charges/call-charges.ts';
import type { Usage } from './protocols/protocol.ts';
import { toEndLabel } from './relay-metrics.ts';
import type { RelayCall } from './requests/relay-call.ts';

interface Convention {
  /** `gen_ai.operation.name`. */
  readonly operation: string;
  /** The owner of the protocol that the call speaks. The upstream that answers is not named outside. */
  readonly provider?: string;
  readonly output?: 'image' | 'speech' | 'text';
}

/** The names of the conventions for generative AI, by protocol; an own name where they have none. */
const CONVENTIONS: Readonly<Record<string, Convention>> = {
  'openai-chat': { operation: 'chat', provider: 'openai' },
  'openai-responses': { operation: 'chat', provider: 'openai' },
  'anthropic-messages': { operation: 'chat', provider: 'anthropic' },
  'anthropic-count': { operation: 'count_tokens', provider: 'anthropic' },
  'google-generate': { operation: 'generate_content', provider: 'gcp.gemini' },
  embeddings: { operation: 'embeddings', provider: 'openai' },
  images: { operation: 'generate_content', provider: 'openai', output: 'image' },
  speech: { operation: 'generate_content', provider: 'openai', output: 'speech' },
  transcription: { operation: 'generate_content', provider: 'openai', output: 'text' },
};

/** The span of a relayed call, and those of its attempts. */
export interface RelaySpan {
  readonly span: Span;
  readonly firstByte: () => void;
  readonly attempt: (channel: RelayChannel, end: AttemptEnd, ms: number) => void;
  readonly end: (tried: CallOutcome | undefined, charge: Charge) => void;
}

const nothing = (): void => undefined;
const NO_RELAY_SPAN: RelaySpan = { span: NO_SPAN, firstByte: nothing, attempt: nothing, end: nothing };

/** Runs a call, which the channels serve, in a span of its own. */
export async function inRelaySpan<T>(
  call: RelayCall,
  clock: Clock,
  run: (traced: RelaySpan) => Promise<T>,
): Promise<T> {
  if (call.span === undefined || call.span === NO_SPAN) return run(NO_RELAY_SPAN);
  const traced = beginRelaySpan(call, call.span, clock);
  try {
    return await run(traced);
  } catch (thrown) {
    traced.span.fail(readErrorType(thrown));
    throw thrown;
  } finally {
    traced.span.end();
  }
}

function beginRelaySpan(call: RelayCall, parent: Span, clock: Clock): RelaySpan {
  const { endpoint, model, content } = call;
  const { operation, provider, output } = CONVENTIONS[endpoint.protocol.name] ?? { operation: endpoint.name };
  const span = parent.child(`${operation} ${model}`, {
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': endpoint.protocol.isStream(content),
      'gen_ai.output.type': output,
      'reelgate.endpoint': endpoint.name,
    },
  });
  const startedAt = clock.now();
  let attempts = 0;
  return {
    span,
    firstByte: () => {
      span.set({ 'gen_ai.response.time_to_first_chunk': (clock.now() - startedAt) / 1000 });
    },
    attempt: ({ settings: { id } }, end, ms) => {
      const method = { 'http.request.method': endpoint.method, 'http.request.resend_count': attempts || undefined };
      const options = { kind: 'client', at: clock.now() - ms } as const;
      const sent = span.child(endpoint.method, { ...options, attributes: { ...method, 'reelgate.channel': id } });
      sent.set({ 'http.response.status_code': readStatus(end) });
      if (isFault(end)) sent.fail(toEndLabel(end));
      sent.end();
      attempts += 1;
    },
    end: (tried, charge) => {
      span.set({
        'reelgate.attempts': attempts,
        'reelgate.charge.basis': charge.basis,
        ...toUsageAttributes(tried, charge),
      });
      if (tried !== undefined && 'end' in tried && tried.end.kind !== 'gone' && isFault(tried.end))
        span.fail(toEndLabel(tried.end));
    },
  };
}

function readStatus(end: AttemptEnd): number | undefined {
  if (end.kind === 'error') return end.answer.status;
  return end.kind === 'answered' ? end.status : undefined;
}

function toUsageAttributes(tried: CallOutcome | undefined, charge: Charge): Attributes {
  const usage: Usage | undefined = charge.basis === 'usage' ? charge.usage : readReportedUsage(tried);
  return {
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
  };
}

function readReportedUsage(tried: CallOutcome | undefined): Usage | undefined {
  return tried !== undefined && 'end' in tried && tried.end.kind === 'answered' ? tried.end.progress.usage : undefined;
}
