import { readFileSync } from 'node:fs';
import { ConfigError } from '../config/config-document.ts';
import { Secret } from '../secret.ts';
import type { TraceConfig } from './trace-schema.ts';

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

export type Environment = Readonly<Record<string, string | undefined>>;

const PATH = 'v1/traces';

/** Returns undefined if there is no receiver. Throws a ConfigError for a value that cannot be used. */
export function receiverSettings(config: TraceConfig, environment: Environment): ReceiverSettings | undefined {
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
export function textIn(environment: Environment, name: string): string | undefined {
  const text = environment[name]?.trim();
  return text === '' ? undefined : text;
}
