import { parseBytes, parseDuration } from '../config/units.ts';
import { Secret } from '../secret.ts';
import { outgoingTlsSchema } from '../tls/tls-schema.ts';
import { resolveFiles } from '../tls/tls-material.ts';
import type { ResolveFile, TlsFiles } from '../tls/tls-material.ts';

/** The longest that events are kept, without a setting. */
const AGE_MS = 7 * 24 * 3600 * 1000;

/** NATS, and the stream that the services share there. */
export interface BusSettings {
  /** `nats://…` or `tls://…`, with credentials if the servers want them. */
  readonly servers: readonly Secret[];
  /**
   * The number of servers that store each event. If undefined, a stream keeps its own number, and a new stream has one.
   */
  readonly replicas: number | undefined;
  /** If undefined, a stream keeps its own age, and a new stream has `AGE_MS`. */
  readonly maxAgeMs: number | undefined;
  /** If undefined, a stream keeps its own bound, and a new stream has no bound. */
  readonly maxBytes: number | undefined;
  readonly tls: TlsFiles | undefined;
}

const server = {
  type: 'string',
  pattern: '^(nats|tls)://[^\\s,]+(,(nats|tls)://[^\\s,]+)*$',
  description: 'a nats:// or tls:// address, several with commas, or nothing for a single program',
} as const;

/** The addresses alone, or an object with them. */
export const busSchema = {
  ...server,
  type: ['string', 'object'],
  description:
    'a nats:// or tls:// address, an object such as { servers: [nats://a, nats://b], replicas: 3 }, or nothing',
  additionalProperties: false,
  required: ['servers'],
  properties: {
    servers: { type: 'array', minItems: 1, items: server, description: 'a list of nats:// or tls:// addresses' },
    replicas: { type: 'integer', minimum: 1, maximum: 5, description: 'a whole number of servers from 1 to 5' },
    max_age: { type: 'string', format: 'duration' },
    max_bytes: { type: 'string', format: 'bytes' },
    tls: outgoingTlsSchema,
  },
} as const;

/** As the checked configuration has it. */
export type BusEntry =
  | string
  | {
      readonly servers: readonly string[];
      readonly replicas?: number;
      readonly max_age?: string;
      readonly max_bytes?: string;
      readonly tls?: TlsFiles;
    };

/** Without `resolve` the paths of files stay as they are. */
export function busSettings(entry: BusEntry, resolve: ResolveFile = (_key, file) => file): BusSettings {
  const {
    servers,
    replicas,
    max_age: age,
    max_bytes: bytes,
    tls,
  } = typeof entry === 'string' ? { servers: [entry] } : entry;
  return {
    servers: servers.flatMap((one) => one.split(',')).map((one) => new Secret(one)),
    replicas,
    maxAgeMs: age === undefined ? undefined : parseDuration(age),
    maxBytes: bytes === undefined ? undefined : parseBytes(bytes),
    tls: tls && resolveFiles(tls, resolve),
  };
}

/** The limits of a stream that the bus creates. */
export function newStreamLimits({ replicas = 1, maxAgeMs = AGE_MS, maxBytes = -1 }: BusSettings) {
  return { replicas, maxAgeMs, maxBytes };
}
