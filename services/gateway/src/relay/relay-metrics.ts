import type { Clock } from '@reelgate/platform/clock';
import type { Metrics } from '@reelgate/platform/metrics/metrics';
import type { Charge } from './charges/call-charges.ts';
import type { AttemptEnd } from './attempts/forward-call.ts';
import type { RelayCall } from './requests/relay-call.ts';
import type { RelayChannel, RelayChannels } from './channels/relay-channels.ts';
import type { CallOutcome } from './attempts/try-channels.ts';

const BUCKETS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
const CIRCUIT_NUMBERS = { closed: 0, half_open: 1, open: 2 } as const;

/** The measurements of one call. */
export interface ObservedCall {
  /** The upstream's head has arrived. */
  readonly firstByte: () => void;
  readonly end: (tried: CallOutcome | undefined, charge: Charge) => void;
}

/** The metrics of the relay. Their labels name channels, so only the operator's port shows them. */
export interface RelayMeter {
  readonly begin: (call: RelayCall) => ObservedCall;
  readonly attempt: (channel: RelayChannel, end: AttemptEnd) => void;
  /** Billing refused the hold of a call that began beside it: its client pays nothing, and its upstream may charge. */
  readonly countRefusedBeside: (call: RelayCall) => void;
}

export function relayMeter(metrics: Metrics, clock: Clock, channels: RelayChannels): RelayMeter {
  const calls = metrics.counter(
    'reelgate_relay_calls_total',
    'Calls of synchronous routes by endpoint and how they ended',
    ['endpoint', 'end'],
  );
  const firstBytes = metrics.histogram(
    'reelgate_relay_first_byte_seconds',
    "Time from the request to the head of the upstream's answer",
    BUCKETS,
    ['endpoint'],
  );
  const tokens = metrics.counter('reelgate_relay_tokens_total', 'Tokens that upstreams reported', [
    'endpoint',
    'direction',
  ]);
  const attempts = metrics.counter('reelgate_relay_attempts_total', 'Attempts by channel and how they ended', [
    'channel',
    'end',
  ]);
  const refusedBeside = metrics.counter(
    'reelgate_relay_refused_beside_total',
    'Calls that began beside a hold which billing then did not take; their upstreams may charge for them',
    ['endpoint'],
  );
  watchChannels(metrics, channels);
  return {
    begin: ({ endpoint: { name: endpoint } }) => {
      const startedAt = clock.now();
      return {
        firstByte: () => {
          firstBytes.labels(endpoint).observe((clock.now() - startedAt) / 1000);
        },
        end: (tried, charge) => {
          calls.labels(endpoint, tried === undefined || 'refusal' in tried ? 'refused' : toEndLabel(tried.end)).inc();
          if (charge.basis !== 'usage') return;
          tokens.labels(endpoint, 'input').inc(charge.usage.inputTokens ?? 0);
          tokens.labels(endpoint, 'output').inc(charge.usage.outputTokens ?? 0);
        },
      };
    },
    attempt: ({ settings }, end) => {
      attempts.labels(settings.id, toEndLabel(end)).inc();
    },
    countRefusedBeside: ({ endpoint: { name } }) => {
      refusedBeside.labels(name).inc();
    },
  };
}

/** A status, or a word if there is none. */
export function toEndLabel(end: AttemptEnd): string {
  if (end.kind === 'error') return String(end.answer.status);
  if (end.kind === 'answered') return end.how === 'whole' ? String(end.status) : 'broken';
  return end.kind === 'unknown' ? end.why : end.kind;
}

function watchChannels(metrics: Metrics, channels: RelayChannels): void {
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
