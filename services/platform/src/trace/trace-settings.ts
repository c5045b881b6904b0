import { receiverSettings, textIn } from './receiver-settings.ts';
import type { Environment, ReceiverSettings } from './receiver-settings.ts';
import { DEFAULT_SAMPLE } from './trace-schema.ts';
import type { SampleRates, TraceConfig } from './trace-schema.ts';

/** The settings of a program that records traces. */
export interface TraceSettings extends ReceiverSettings {
  readonly sample: SampleRates;
  readonly batch: BatchSettings;
  /** A protocol that the environment asks for and that is not spoken. */
  readonly otherProtocol?: string | undefined;
}

/** Spans that wait to be sent. */
export interface BatchSettings {
  /** More are dropped. */
  readonly queueMax: number;
  readonly batchMax: number;
  /** An ended span is sent within this time. */
  readonly delayMs: number;
  /** The time for which a batch is tried while the receiver is away. */
  readonly exportMs: number;
}

/** More spans than any useful queue has, but still few enough for the memory. */
const COUNT_MAX = 100_000;
const MS_MAX = 10 * 60_000;
/** A process that is killed loses the spans that wait. The default of OpenTelemetry is 5 s. */
const DELAY_MS = 500;
const PROTOCOL = 'http/protobuf';
const SWITCHED_ON = /^true$/i;

/**
 * Reads the settings of the configuration, completed by the variables of OpenTelemetry. Returns undefined if no traces
 * are recorded. Throws a ConfigError for an invalid address.
 */
export function traceSettings(config: TraceConfig, environment: Environment): TraceSettings | undefined {
  if (SWITCHED_ON.test(textIn(environment, 'OTEL_SDK_DISABLED') ?? '')) return undefined;
  if (textIn(environment, 'OTEL_TRACES_EXPORTER') === 'none') return undefined;
  const receiver = receiverSettings(config, environment);
  if (receiver === undefined) return undefined;
  const { creates, calls, reads } = config.sample;
  const sampled = readSampleRates(environment) ?? DEFAULT_SAMPLE;
  return {
    ...receiver,
    sample: {
      creates: creates ?? sampled.creates,
      calls: calls ?? sampled.calls,
      reads: reads ?? sampled.reads,
    },
    batch: readBatch(environment),
    otherProtocol: readOtherProtocol(environment),
  };
}

function readOtherProtocol(environment: Environment): string | undefined {
  const asked =
    textIn(environment, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL') ?? textIn(environment, 'OTEL_EXPORTER_OTLP_PROTOCOL');
  return asked === PROTOCOL ? undefined : asked;
}

/**
 * Reads one share for every class, because the standard samplers know no classes. The decision of a caller is kept in
 * any case.
 */
function readSampleRates(environment: Environment): SampleRates | undefined {
  const sampler = textIn(environment, 'OTEL_TRACES_SAMPLER')?.replace(/^parentbased_/, '');
  const every = (share: number): SampleRates => ({ creates: share, calls: share, reads: share });
  if (sampler === 'always_on') return every(1);
  if (sampler === 'always_off') return every(0);
  if (sampler !== 'traceidratio') return undefined;
  const share = Number(textIn(environment, 'OTEL_TRACES_SAMPLER_ARG') ?? 1);
  return every(share >= 0 && share <= 1 ? share : 1);
}

function readBatch(environment: Environment): BatchSettings {
  const queueMax = readNumber(environment, 'OTEL_BSP_MAX_QUEUE_SIZE', 2048, COUNT_MAX);
  return {
    queueMax,
    batchMax: Math.min(queueMax, readNumber(environment, 'OTEL_BSP_MAX_EXPORT_BATCH_SIZE', 512, COUNT_MAX)),
    delayMs: readNumber(environment, 'OTEL_BSP_SCHEDULE_DELAY', DELAY_MS, MS_MAX),
    exportMs: readNumber(environment, 'OTEL_BSP_EXPORT_TIMEOUT', 30_000, MS_MAX),
  };
}

/** The standard demands that an unusable number counts as missing. */
function readNumber(environment: Environment, name: string, fallback: number, max: number): number {
  const text = textIn(environment, name) ?? '';
  return /^[1-9]\d*$/.test(text) && Number(text) <= max ? Number(text) : fallback;
}
