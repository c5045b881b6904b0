import { duration, readSection } from '../../config/settings.ts';
import type { EntryOf } from '../../config/settings.ts';
import type { GrpcSettings } from './client.ts';

/** Shorter times would load the name servers and the network. A timer cannot wait much longer than a day. */
const RANGE = { min: '100ms', max: '24h' } as const;

/** The key `grpc`: how calls find the replicas of a service. */
export const grpcKeys = {
  resolve_interval: duration(
    'the least time between two resolutions of a name; it is resolved again when a connection ends',
    { default: '1s', ...RANGE, as: 'resolveEveryMs' },
  ),
  reconnect_max: duration('the longest wait before a replica that could not be reached is tried again', {
    default: '2s',
    ...RANGE,
  }),
  keepalive: {
    time: duration('how often a connection is pinged, with or without calls', {
      default: '20s',
      ...RANGE,
      as: 'everyMs',
    }),
    timeout: duration('the time after which a replica that does not answer a ping is gone', {
      default: '5s',
      ...RANGE,
      as: 'answeredWithinMs',
    }),
  },
  connection_age: duration(
    'the age at which a connection to a gRPC port takes no new calls, and its client resolves the name again; it ' +
      'varies by a tenth',
    { default: '2m', min: '1s', max: '24h' },
  ),
};

export interface GrpcConfig {
  readonly calls: GrpcSettings;
  /** Of the connections that a service accepts. */
  readonly connectionAgeMs: number;
}

/** Reads the settings from a value that the schema has accepted. */
export function grpcConfig(value: unknown): GrpcConfig {
  const { grpc } = value as { readonly grpc: EntryOf<typeof grpcKeys> };
  const { connectionAgeMs, ...calls } = readSection(grpcKeys, grpc, 'grpc');
  return { calls, connectionAgeMs };
}
