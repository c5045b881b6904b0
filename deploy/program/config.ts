import path from 'node:path';
import { ConfigError, readConfigFile } from '@reelgate/platform/config/config-file';
import type { ConfigFile } from '@reelgate/platform/config/config-file';
import type { KnownCaller } from '@reelgate/platform/rpc/callers';
import { Secret } from '@reelgate/platform/secret';
import { parseHostPort } from '@reelgate/platform/config/units';
import type { HostPort } from '@reelgate/platform/config/units';
import { billingConfig, billingSchema } from '@reelgate/billing/config';
import { gatewaySchema } from '@reelgate/gateway/config';
import { mediaSchema } from '@reelgate/media/config';
import { tasksSchema } from '@reelgate/tasks/config';
import { channelsSchema, isRelayAdapter } from './channels-schema.ts';
import { findingsIn } from './config-findings.ts';
import type { ComparedConfig } from './config-findings.ts';
import { internalCallersOf, internalCallersSchema } from './internal-callers.ts';
import type { InternalCallerEntry } from './internal-callers.ts';

const DEFAULT_FILE = path.join(import.meta.dirname, '../local/reelgate.yaml');

const address: object = { type: 'string', format: 'host-port' };

/** The whole file: what the program itself reads, and the keys that each service owns. */
const SCHEMA = {
  type: 'object',
  additionalProperties: false,
  properties: {
    public_url: {
      type: 'string',
      pattern: '^https?://[^\\s/]+(/[^\\s?#]*)?$',
      description: 'an http:// or https:// address without a query',
      default: 'http://127.0.0.1:8080',
    },
    data_dir: { type: 'string', default: './data' },
    signing_key: { type: 'string', minLength: 16, description: 'at least 16 characters, or nothing to have one made' },
    bus: {
      type: 'string',
      pattern: '^(nats|tls)://',
      description: 'a nats:// address, or nothing for a single program',
    },
    internal_callers: internalCallersSchema,
    sandbox: { type: 'object', additionalProperties: false, required: ['listen'], properties: { listen: address } },
    ...gatewaySchema,
    ...tasksSchema,
    channels: channelsSchema,
    ...billingSchema,
    ...mediaSchema,
  },
} as const;

export type ServiceName = 'gateway' | 'tasks' | 'billing' | 'media';

/** The ports that a service opens, where it opens them. */
export interface Ports {
  readonly rpc: HostPort | undefined;
  readonly http: HostPort | undefined;
}

export interface ProgramConfig {
  readonly file: ConfigFile;
  /** What every service reads its own part from. */
  readonly value: unknown;
  readonly publicUrl: string;
  /** An absolute path. */
  readonly dataDir: string;
  readonly signingKey: Secret | undefined;
  readonly bus: string | undefined;
  readonly ports: Readonly<Record<'tasks' | 'billing' | 'media', Ports>>;
  /** Where the services are for those that call them. */
  readonly services: {
    readonly tasks: string;
    readonly billing: string;
    readonly media: string;
    readonly mediaHttp: string;
  };
  readonly internalCallers: readonly KnownCaller[];
  readonly sandbox: HostPort | undefined;
  /** The credential of the channel that points at the sandbox. */
  readonly sandboxKey: string;
  /** Ids of the channels that point at the sandbox. */
  readonly sandboxChannels: readonly string[];
  /** What is of no use in it: each with file, line, key and what would be right. */
  readonly warnings: readonly string[];
}

interface Checked extends ComparedConfig {
  readonly data_dir: string;
  readonly signing_key?: string;
  readonly bus?: string;
  readonly internal_callers: readonly InternalCallerEntry[];
  readonly sandbox?: { readonly listen: string };
  readonly gateway: {
    readonly services: {
      readonly tasks: string;
      readonly billing: string;
      readonly media: string;
      readonly media_http?: string;
    };
  };
  readonly tasks: Listening & ComparedConfig['tasks'];
  readonly billing: Listening;
  readonly media: Listening & { readonly blobs?: string };
  readonly channels: readonly (ComparedConfig['channels'][number] & {
    readonly id: string;
    readonly base_url: string;
    readonly api_key: string;
  })[];
}

interface Listening {
  readonly listen?: string;
  readonly http?: string;
}

/** Reads and checks the configuration; throws a ConfigError that names the file, the line and the key. */
export function readProgramConfig(environment: Readonly<Record<string, string | undefined>>): ProgramConfig {
  const named = environment['REELGATE_CONFIG'];
  const file = readConfigFile(
    path.resolve(named === undefined || named === '' ? DEFAULT_FILE : named),
    SCHEMA,
    environment,
  );
  const checked = file.value as Checked;
  const warnings = checkLists(file, checked);
  const sandboxed = checked.channels.filter(({ base_url }) => base_url.endsWith(checked.sandbox?.listen ?? '//'));
  const resolved = (relative: string): string => path.resolve(path.dirname(file.file), relative);
  return {
    file,
    value:
      checked.media.blobs === undefined || checked.media.blobs.startsWith('s3://')
        ? checked
        : { ...checked, media: { ...checked.media, blobs: resolved(checked.media.blobs) } },
    publicUrl: checked.public_url.replace(/\/$/, ''),
    dataDir: resolved(checked.data_dir),
    signingKey: checked.signing_key === undefined ? undefined : new Secret(checked.signing_key),
    bus: checked.bus,
    ports: { tasks: portsOf(checked.tasks), billing: portsOf(checked.billing), media: portsOf(checked.media) },
    services: servicesOf(checked),
    internalCallers: internalCallersOf(file, checked.internal_callers),
    sandbox: checked.sandbox === undefined ? undefined : parseHostPort(checked.sandbox.listen),
    sandboxKey: sandboxed[0]?.api_key ?? 'sandbox',
    sandboxChannels: sandboxed.map(({ id }) => id),
    warnings,
  };
}

/** What no schema can say: that amounts and dates exist, and that the lists agree with one another. Gives what is to be warned of. */
function checkLists(file: ConfigFile, checked: Checked): readonly string[] {
  const { models, channels } = checked;
  try {
    billingConfig(file.value);
  } catch (error) {
    throw error instanceof ConfigError ? new ConfigError(`${file.file}: ${error.message}`) : error;
  }
  const seen = new Set<string>();
  for (const [index, channel] of channels.entries()) {
    if (seen.has(channel.id))
      throw file.fault(
        ['channels', index, 'id'],
        `another channel is called ${channel.id}; expected a name of its own`,
      );
    seen.add(channel.id);
    if (isRelayAdapter(channel.adapter)) continue;
    for (const model of Object.keys(channel.models)) {
      if (!Object.hasOwn(models, model))
        throw file.fault(
          ['channels', index, 'models', model],
          `no such model; expected one of those under models: ${Object.keys(models).join(', ')}`,
        );
    }
  }
  const findings = findingsIn(checked);
  const refused = findings.find((finding) => finding.refused);
  if (refused !== undefined) throw file.fault(refused.keys, refused.message);
  return findings.map(({ keys, message }) => file.fault(keys, message).message);
}

function portsOf({ listen, http }: Listening): Ports {
  return {
    rpc: listen === undefined ? undefined : parseHostPort(listen),
    http: http === undefined ? undefined : parseHostPort(http),
  };
}

function servicesOf({ gateway: { services }, media }: Checked): ProgramConfig['services'] {
  return {
    tasks: services.tasks,
    billing: services.billing,
    media: services.media,
    mediaHttp: `http://${media.http ?? services.media_http ?? '127.0.0.1:9113'}`,
  };
}
