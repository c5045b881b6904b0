import type { Clock } from '@reelgate/platform/clock';
import type { Log } from '@reelgate/platform/log';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import { readErrorType } from '@reelgate/platform/problem';
import type { Attributes, Span } from '@reelgate/platform/trace/trace';
import { NO_SPAN } from '@reelgate/platform/trace/trace';
import { isFault, toResultLabel } from './attempts/attempt-result.ts';
import type { AttemptResult, CallOutcome } from './attempts/attempt-result.ts';
import type { RelayChannel, RelayChannels } from './channels/relay-channels.ts';
import type { CallCharge } from '../domain/call-order.ts';
import type { RelayCall } from './requests/relay-call.ts';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const CIRCUIT_NUMBERS = { closed: 0, half_open: 1, open: 2 } as const;

/** The names of the conventions for generative AI, by protocol, or our own name where the conventions have none. */
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

/**
 * The operators' view of one call: its metrics, its span with a span for each attempt, and the log of failed attempts.
 */
export interface CallObserver {
  readonly span: Span;
  /** Starts the measurement of the call. */
  begin(): void;
  /** The head of the upstream's answer has arrived. */
  firstByte(): void;
  attempt(channel: RelayChannel, result: AttemptResult, startedAt: number): void;
  /** The channel serves the call only if it is not asked for its usage. */
  usageRefused(channel: RelayChannel): void;
  /** Without an outcome, the call was refused. */
  end(outcome: CallOutcome | undefined, charge: CallCharge): void;
}

export interface RelayObserver {
  /** Runs a call, which the channels serve, in a span of its own. */
  observe<T>(call: RelayCall, run: (observer: CallObserver) => Promise<T>): Promise<T>;
  /**
   * Counts a call that began at the same time as its hold and was refused by billing. Its client does not pay, and its
   * upstream may charge.
   */
  countRefusedBeside(call: RelayCall): void;
}

export interface ObserverDeps {
  readonly metrics: Metrics;
  readonly clock: Clock;
  readonly log: Log;
}

/** Registers the metrics of the relay. Their labels name channels, so only the operator's port shows them. */
export function newRelayObserver(deps: ObserverDeps, channels: RelayChannels): RelayObserver {
  const meters = registerCallMetrics(deps.metrics);
  registerChannelMetrics(deps.metrics, channels);
  return {
    observe: async (call, run) => {
      const span = beginCallSpan(call);
      try {
        return await run(observeCall(deps, meters, call, span));
      } catch (thrown) {
        span.fail(readErrorType(thrown));
        throw thrown;
      } finally {
        span.end();
      }
    },
    countRefusedBeside: ({ endpoint: { name } }) => meters.refusedBeside.labels(name).inc(),
  };
}

function observeCall({ clock, log }: ObserverDeps, meters: CallMetrics, call: RelayCall, span: Span): CallObserver {
  const endpoint = call.endpoint.name;
  const arrivedAt = clock.now();
  let begunAt = arrivedAt;
  let attempts = 0;
  return {
    span,
    begin: () => {
      begunAt = clock.now();
    },
    firstByte: () => {
      const now = clock.now();
      meters.firstBytes.labels(endpoint).observe((now - begunAt) / 1000);
      span.set({ 'gen_ai.response.time_to_first_chunk': (now - arrivedAt) / 1000 });
    },
    attempt: (channel, result, startedAt) => {
      meters.attempts.labels(channel.settings.id, toResultLabel(result)).inc();
      addAttemptSpan(span, call, channel, { result, resends: attempts, at: startedAt });
      if (isFault(result)) logFault(log, call, channel, { result, ms: clock.now() - startedAt });
      attempts += 1;
    },
    usageRefused: ({ settings: { id: channel } }) => {
      const { requestId, model } = call;
      log.warn(
        { requestId, channel, model },
        'a channel refuses to report the usage of streams; each of them costs its hold; ask_usage: false turns the request off',
      );
    },
    end: (outcome, charge) => {
      meters.calls.labels(endpoint, outcome === undefined ? 'refused' : toResultLabel(outcome.result)).inc();
      if (charge.basis === 'usage') {
        meters.tokens.labels(endpoint, 'input').inc(charge.usage.inputTokens ?? 0);
        meters.tokens.labels(endpoint, 'output').inc(charge.usage.outputTokens ?? 0);
      }
      if (span === NO_SPAN) return;
      span.set({
        'reelgate.attempts': attempts,
        'reelgate.charge.basis': charge.basis,
        ...toUsageAttributes(outcome, charge),
      });
      if (outcome !== undefined && outcome.result.kind !== 'gone' && isFault(outcome.result))
        span.fail(toResultLabel(outcome.result));
    },
  };
}

/** Logs a failed attempt: the client may never see it. */
function logFault(
  log: Log,
  { requestId, model }: RelayCall,
  { settings: { id: channel } }: RelayChannel,
  { result, ms }: { readonly result: AttemptResult; readonly ms: number },
): void {
  log.warn(
    {
      requestId,
      channel,
      model,
      end: toResultLabel(result),
      ms,
      ...('error' in result ? { fault: describeFault(result.error) } : {}),
    },
    'a channel failed',
  );
}

/** Only the code: a message may quote the request. */
function describeFault(error: Error): string {
  return (error as { readonly code?: string }).code ?? error.name;
}

interface Convention {
  /** `gen_ai.operation.name`. */
  readonly operation: string;
  /** The owner of the protocol that the call speaks. The upstream that answers is not named outside. */
  readonly provider?: string;
  readonly output?: 'image' | 'speech' | 'text';
}

function beginCallSpan({ endpoint, model, content, span: parent }: RelayCall): Span {
  if (parent === undefined || parent === NO_SPAN) return NO_SPAN;
  const { operation, provider, output } = CONVENTIONS[endpoint.protocol.name] ?? { operation: endpoint.name };
  return parent.child(`${operation} ${model}`, {
    attributes: {
      'gen_ai.operation.name': operation,
      'gen_ai.provider.name': provider,
      'gen_ai.request.model': model,
      'gen_ai.request.stream': endpoint.protocol.isStream(content),
      'gen_ai.output.type': output,
      'reelgate.endpoint': endpoint.name,
    },
  });
}

function addAttemptSpan(
  span: Span,
  { endpoint }: RelayCall,
  { settings: { id } }: RelayChannel,
  { result, resends, at }: { readonly result: AttemptResult; readonly resends: number; readonly at: number },
): void {
  if (span === NO_SPAN) return;
  const method = { 'http.request.method': endpoint.method, 'http.request.resend_count': resends || undefined };
  const sent = span.child(endpoint.method, { kind: 'client', at, attributes: { ...method, 'reelgate.channel': id } });
  sent.set({ 'http.response.status_code': readStatus(result) });
  if (isFault(result)) sent.fail(toResultLabel(result));
  sent.end();
}

function readStatus(result: AttemptResult): number | undefined {
  if (result.kind === 'error') return result.answer.status;
  return result.kind === 'answered' ? result.status : undefined;
}

function toUsageAttributes(outcome: CallOutcome | undefined, charge: CallCharge): Attributes {
  const reported = outcome?.result.kind === 'answered' ? outcome.result.progress.usage : undefined;
  const usage = charge.basis === 'usage' ? charge.usage : reported;
  return {
    'gen_ai.usage.input_tokens': usage?.inputTokens,
    'gen_ai.usage.output_tokens': usage?.outputTokens,
    'gen_ai.usage.cache_read.input_tokens': usage?.cachedInputTokens,
    'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
  };
}

type CallMetrics = ReturnType<typeof registerCallMetrics>;

function registerCallMetrics(metrics: Metrics) {
  return {
    calls: metrics.counter('reelgate_relay_calls_total', 'Calls of synchronous routes by endpoint and how they ended', [
      'endpoint',
      'end',
    ]),
    firstBytes: metrics.histogram(
      'reelgate_relay_first_byte_seconds',
      "Time from the request to the head of the upstream's answer",
      BUCKETS,
      ['endpoint'],
    ),
    tokens: metrics.counter('reelgate_relay_tokens_total', 'Tokens that upstreams reported', ['endpoint', 'direction']),
    attempts: metrics.counter('reelgate_relay_attempts_total', 'Attempts by channel and how they ended', [
      'channel',
      'end',
    ]),
    refusedBeside: metrics.counter(
      'reelgate_relay_refused_beside_total',
      'Calls that began at the same time as a hold that billing then refused; their upstreams may charge for them',
      ['endpoint'],
    ),
  };
}

function registerChannelMetrics(metrics: Metrics, channels: RelayChannels): void {
  metrics.gauge('reelgate_relay_in_flight', 'Calls that run on a channel', ['channel'], (gauge) => {
    gauge.reset();
    for (const { settings, permits } of channels.all()) gauge.labels(settings.id).set(permits.inUse());
  });
  metrics.gauge(
    'reelgate_relay_circuit',
    'Whether a channel is left alone: 0 no, 1 about to be tried, 2 yes',
    ['channel'],
    (gauge) => {
      gauge.reset();
      for (const { settings, circuit } of channels.all())
        gauge.labels(settings.id).set(CIRCUIT_NUMBERS[circuit.state()]);
    },
  );
}
