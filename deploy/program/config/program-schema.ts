import { BUS_ABOUT, busSchema } from '@reelgate/platform/bus/bus-settings';
import type { BusEntry } from '@reelgate/platform/bus/bus-settings';
import {
  address,
  choice,
  custom,
  flag,
  list,
  secret,
  section,
  sectionSchema,
  text,
} from '@reelgate/platform/config/settings';
import { billingSchema } from '@reelgate/billing/config';
import { gatewaySchema, operatorsKey } from '@reelgate/gateway/config';
import { mediaSchema } from '@reelgate/media/config';
import { grpcKeys } from '@reelgate/platform/rpc/grpc/config';
import { traceKeys } from '@reelgate/platform/trace/trace-settings';
import { listAdapters, tasksSchema } from '@reelgate/tasks/config';
import type { KnownAdapters } from '@reelgate/tasks/config';
import { describeChannels } from './channels-schema.ts';
import type { ChannelsSchemaOptions } from './channels-schema.ts';
import { internalCallersKey } from './internal-callers.ts';
import { liveKeys } from './live-settings.ts';

const ALLOWED_HOSTS_MAX = 64;

/** The keys that belong to no service. */
export const programKeys = {
  public_url: text('the base of every link that a client gets', {
    default: 'http://127.0.0.1:8080',
    pattern: '^https?://[^\\s/]+(/[^\\s?#]*)?$',
    expects: 'an http:// or https:// address without a query',
  }),
  allowed_hosts: list(
    'further names that the admin port and the HTTP ports of the services answer to, such as `tasks.example` or ' +
      '`*.example`',
    text('a host name', {
      pattern: '^(\\*\\.)?[A-Za-z0-9_]([A-Za-z0-9_.-]*[A-Za-z0-9_])?$',
      expects: 'a host name such as media.example, or *.example for every name below it, without a port',
    }),
    { default: [], maxItems: ALLOWED_HOSTS_MAX },
  ),
  data_dir: text('the folder of the embedded stores and blobs, relative to the file that has the key', {
    default: './data',
  }),
  signing_key: secret(
    'the key from which the keys of links, calls, tokens, consoles and sealed secrets come; at least 16 characters',
    {
      minLength: 16,
      absent: 'the first start of the one program makes it, in `data_dir`',
      expects: 'at least 16 characters, or nothing to have one made',
    },
  ),
  other_signing_keys: list(
    'keys that `signing_key` replaces, or that will replace it, at most three',
    section(
      {
        key: secret('the key, at least 16 characters', {
          required: true,
          minLength: 16,
          expects: 'at least 16 characters',
        }),
        accept: choice(
          '`all`; or `tokens`, for a key that others may know: its links and its calls between services are refused, ' +
            'and it only finds the tokens that were made under it',
          ['all', 'tokens'],
          { default: 'all', expects: 'all or tokens' },
        ),
      },
      {},
    ),
    { default: [], maxItems: 3, expects: 'at most three keys that signing_key replaces, or that will replace it' },
  ),
  service_key: secret(
    'instead of `signing_key`, in a service of its own: the keys of that service, which ' +
      '`reelgate keys derive --service NAME` prints',
    {
      minLength: 16,
      absent: 'none',
      expects: 'what `reelgate keys derive --service NAME` prints, for a service of its own',
    },
  ),
  require_service_key: flag(
    'whether a service of its own refuses to start with `signing_key`; `true` in the manifests of production',
    { default: false, as: 'isServiceKeyRequired' },
  ),
  bus: custom(BUS_ABOUT, busSchema, {}, (entry: BusEntry) => entry),
  grpc: grpcKeys,
  tracing: traceKeys,
  ...liveKeys,
  internal_callers: internalCallersKey,
  operators: operatorsKey,
  sandbox: section(
    {
      listen: address('the address of the sandbox, the upstream for trials', { required: true, absent: 'not started' }),
    },
    {},
  ),
};

/** Returns the schema of the whole file: the program's own keys, and the keys of each service. */
export function describeConfig(known: KnownAdapters, channels: ChannelsSchemaOptions = {}) {
  const own = sectionSchema(programKeys);
  return {
    ...own,
    properties: {
      ...own.properties,
      ...gatewaySchema,
      ...tasksSchema,
      channels: describeChannels(known, channels),
      ...billingSchema,
      ...mediaSchema,
    },
  };
}

/** The schema of a file that names no adapter of an operator. */
export const CONFIG_SCHEMA = describeConfig(listAdapters([]));
