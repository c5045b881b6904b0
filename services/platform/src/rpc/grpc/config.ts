import { ConfigError } from '../../config/config-file.ts';
import { parseDuration } from '../../config/units.ts';
import type { GrpcSettings } from './client.ts';

const duration = (fallback: string): object => ({ type: 'string', format: 'duration', default: fallback });
const section = (properties: object): object => ({
  type: 'object',
  additionalProperties: false,
  default: {},
  properties,
});

/** The JSON Schema of the key `grpc`: how calls find the replicas of a service. */
export const grpcSchema = section({
  resolve_interval: duration('1s'),
  reconnect_max: duration('2s'),
  keepalive: section({ time: duration('20s'), timeout: duration('5s') }),
  connection_age: duration('2m'),
});

export interface GrpcConfig {
  readonly calls: GrpcSettings;
  /** Of the connections that a service accepts. */
  readonly connectionAgeMs: number;
}

interface CheckedConfig {
  readonly grpc: {
    readonly resolve_interval: string;
    readonly reconnect_max: string;
    readonly keepalive: { readonly time: string; readonly timeout: string };
    readonly connection_age: string;
  };
}

/** Shorter times would load the name servers and the network without any use. */
const MS_MIN = 100;
const AGE_MS_MIN = 1000;
/** A timer cannot wait much longer. */
const MS_MAX = 24 * 60 * 60_000;

/** Reads the settings from a value that the schema has accepted. Throws a ConfigError for a time out of its range. */
export function grpcConfig(value: unknown): GrpcConfig {
  const {
    resolve_interval: resolve,
    reconnect_max: reconnect,
    keepalive,
    connection_age: age,
  } = (value as CheckedConfig).grpc;
  return {
    calls: {
      resolveEveryMs: readDurationMs('resolve_interval', resolve, MS_MIN),
      reconnectMaxMs: readDurationMs('reconnect_max', reconnect, MS_MIN),
      keepalive: {
        everyMs: readDurationMs('keepalive.time', keepalive.time, MS_MIN),
        answeredWithinMs: readDurationMs('keepalive.timeout', keepalive.timeout, MS_MIN),
      },
    },
    connectionAgeMs: readDurationMs('connection_age', age, AGE_MS_MIN),
  };
}

function readDurationMs(key: string, text: string, min: number): number {
  const ms = parseDuration(text) ?? 0;
  if (ms >= min && ms <= MS_MAX) return ms;
  throw new ConfigError(`grpc.${key}: expected a duration from ${min}ms to 24h`);
}
