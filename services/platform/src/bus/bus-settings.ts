import { bytes, duration, list, readSection, sectionSchema, text, whole } from '../config/settings.ts';
import type { EntryOf, ValuesOf } from '../config/settings.ts';
import { Secret } from '../secret.ts';
import { resolveFiles } from '../tls/tls-material.ts';
import type { ResolveFile, TlsFiles } from '../tls/tls-material.ts';
import { outgoingTls } from '../tls/tls-schema.ts';

/** The longest that events are kept, without a setting. */
const AGE_MS = 7 * 24 * 3600 * 1000;

const ADDRESSES = '(nats|tls)://[^\\s,]+(,(nats|tls)://[^\\s,]+)*';

/** NATS, and the stream that the services share there. */
const busKeys = {
  servers: list(
    '`nats://…` or `tls://…`, each with `user:password@` or `token@` if the servers want it',
    text('the address of a server', {
      pattern: `^${ADDRESSES}$`,
      expects: 'a nats:// or tls:// address, several with commas',
    }),
    {
      required: true,
      minItems: 1,
      expects: 'a list of nats:// or tls:// addresses',
    },
  ),
  replicas: whole('the servers that store each event', {
    absent: 'as the stream has it; 1 for a new stream',
    max: 5,
    of: 'servers',
  }),
  max_age: duration('how long an event is kept', { absent: 'as the stream has it; `7d` for a new stream' }),
  max_bytes: bytes('the size of the stream; a full one drops its oldest events', {
    absent: 'as the stream has it; no bound for a new stream',
  }),
  tls: outgoingTls,
};

export interface BusSettings extends Omit<ValuesOf<typeof busKeys>, 'servers' | 'tls'> {
  readonly servers: readonly Secret[];
  readonly tls: TlsFiles | undefined;
}

export const BUS_ABOUT = '`nats://…` or `tls://…`, or a section; separate services need it';

/** The key `bus`: the addresses alone, or a section with them. */
export const busSchema = {
  ...sectionSchema(busKeys),
  type: ['string', 'object'],
  pattern: `^${ADDRESSES}$`,
  description:
    'a nats:// or tls:// address, an object such as { servers: [nats://a, nats://b], replicas: 3 }, or nothing',
  about: BUS_ABOUT,
  absent: 'in-process, for a single program',
};

/** As the checked configuration has it. */
export type BusEntry = string | EntryOf<typeof busKeys>;

/** Without `resolve` the paths of files stay as they are. */
export function busSettings(entry: BusEntry, resolve: ResolveFile = (_key, file) => file): BusSettings {
  const settings = readSection(busKeys, typeof entry === 'string' ? { servers: [entry] } : entry, 'bus');
  return {
    ...settings,
    servers: settings.servers.flatMap((one) => one.split(',')).map((one) => new Secret(one)),
    tls: settings.tls && resolveFiles(settings.tls, resolve),
  };
}

/** The limits of a stream that the bus creates. */
export function newStreamLimits({ replicas = 1, maxAgeMs = AGE_MS, maxBytes = -1 }: BusSettings) {
  return { replicas, maxAgeMs, maxBytes };
}
