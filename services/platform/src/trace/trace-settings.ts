import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config-document.ts';
import { Secret } from '../secret.ts';
import { number, readSection, record, secret, text } from '../config/settings.ts';
import type { EntryOf, ValuesOf } from '../config/settings.ts';

export interface SampleRates {
  readonly creates: number;
  readonly calls: number;
  readonly reads: number;
}

const DEFAULT_SAMPLE: SampleRates = { creates: 1, calls: 0.05, reads: 0.001 };

const share = (what: string, byDefault: number) =>
  number(`the recorded share of ${what}`, {
    min: 0,
    max: 1,
    absent: `\`OTEL_TRACES_SAMPLER\`, or ${byDefault}`,
    expects: `the recorded share of ${what}, from 0 to 1`,
  });

/** The key `tracing`. The variables of OpenTelemetry and the defaults fill what it leaves out. */
export const traceKeys = {
  endpoint: text('the receiver of OTLP over HTTP in protobuf; `/v1/traces` is added', {
    absent:
      '`OTEL_EXPORTER_OTLP_TRACES_ENDPOINT`, which is used as it is, or `OTEL_EXPORTER_OTLP_ENDPOINT`; ' +
      'without them nothing is recorded',
    pattern: '^https?://[^\\s?#@]+$',
    expects: 'an http:// or https:// address that takes OTLP, without credentials and without a query',
  }),
  headers: record(
    'headers that are sent with each batch of spans, besides `OTEL_EXPORTER_OTLP_HEADERS`',
    secret('the value of a header'),
    { default: {} },
  ),
  sample: {
    creates: share('requests that create something', DEFAULT_SAMPLE.creates),
    calls: share('relayed calls', DEFAULT_SAMPLE.calls),
    reads: share('other requests', DEFAULT_SAMPLE.reads),
  },
};

export type TraceConfig = ValuesOf<typeof traceKeys>;

/** Reads the settings from a value that the schema has accepted. */
export function traceConfig(value: unknown): TraceConfig {
  return readSection(traceKeys, (value as { readonly tracing: EntryOf<typeof traceKeys> }).tracing, 'tracing');
}

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

/** The address of the receiver of spans, and how to send to it. */
export interface ReceiverSettings {
  /** Takes spans as OTLP over HTTP, in protobuf. */
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly tls: TlsSettings;
  readonly isZipped: boolean;
}

/**
 * The authority of the receiver and our own certificate, in PEM. By default the authorities of Node, and no
 * certificate.
 */
interface TlsSettings {
  readonly ca?: Buffer;
  readonly cert?: Buffer;
  readonly key?: Buffer;
}

type Environment = Readonly<Record<string, string | undefined>>;

const PATH = 'v1/traces';

/** Returns undefined if there is no receiver. Throws a ConfigError for a value that cannot be used. */
function receiverSettings(config: TraceConfig, environment: Environment): ReceiverSettings | undefined {
  const url = findUrl(config, environment);
  if (url === undefined) return undefined;
  return {
    url,
    headers: { ...readHeaders(environment), ...config.headers },
    tls: url.startsWith('https:') ? readTls(environment) : {},
    isZipped: signalText(environment, 'COMPRESSION') === 'gzip',
  };
}

function findUrl({ endpoint }: TraceConfig, environment: Environment): string | undefined {
  if (endpoint !== undefined) return below(endpoint);
  const [signal, all] = ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', 'OTEL_EXPORTER_OTLP_ENDPOINT'];
  const [whole, base] = [addressIn(environment, signal), addressIn(environment, all)];
  return whole ?? (base === undefined ? undefined : below(base));
}

/** The path for traces below an address for every kind of telemetry. */
function below(base: string): string {
  return base.endsWith(`/${PATH}`) ? base : `${base.replace(/\/$/, '')}/${PATH}`;
}

function addressIn(environment: Environment, name: string): string | undefined {
  const text = textIn(environment, name);
  if (text === undefined) return undefined;
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return text;
  throw new ConfigError(`${name}: must be an http:// or https:// address`);
}

/** Reads `name=value,name=value`, with values in URL encoding. Headers for traces win over headers for every signal. */
function readHeaders(environment: Environment): Readonly<Record<string, Secret>> {
  const names = ['OTEL_EXPORTER_OTLP_HEADERS', 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'];
  const pairs = names.flatMap((name) => (textIn(environment, name) ?? '').split(',').map((pair) => ({ name, pair })));
  return Object.fromEntries(
    pairs.flatMap(({ name, pair }): [string, Secret][] => {
      const at = pair.indexOf('=');
      return at <= 0 ? [] : [[pair.slice(0, at).trim(), new Secret(decodeUrlText(pair.slice(at + 1).trim(), name))]];
    }),
  );
}

function decodeUrlText(text: string, variable: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw new ConfigError(`${variable}: a value must be in URL encoding, such as %25 for a percent sign`);
  }
}

function readTls(environment: Environment): TlsSettings {
  const [ca, cert, key] = ['CERTIFICATE', 'CLIENT_CERTIFICATE', 'CLIENT_KEY'].map((name) => {
    const file = signalText(environment, name);
    return file === undefined ? undefined : readPem(file, name);
  });
  return { ...(ca === undefined ? {} : { ca }), ...(cert === undefined ? {} : { cert }), ...(key ? { key } : {}) };
}

function readPem(file: string, name: string): Buffer {
  try {
    return readFileSync(file);
  } catch {
    throw new ConfigError(`OTEL_EXPORTER_OTLP_${name}: must name a file that can be read`);
  }
}

/** Returns the variable for traces, or else the variable for every signal. */
function signalText(environment: Environment, name: string): string | undefined {
  return textIn(environment, `OTEL_EXPORTER_OTLP_TRACES_${name}`) ?? textIn(environment, `OTEL_EXPORTER_OTLP_${name}`);
}

/** Returns the value of a variable, or undefined if it is not set or is empty. */
function textIn(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim();
  return text === '' ? undefined : text;
}
