import { busSchema } from '@reelgate/platform/bus/bus-settings';
import { billingSchema } from '@reelgate/billing/config';
import { gatewaySchema, operatorsSchema } from '@reelgate/gateway/config';
import { mediaSchema } from '@reelgate/media/config';
import { grpcSchema } from '@reelgate/platform/rpc/grpc/config';
import { traceSchema } from '@reelgate/platform/trace/trace-schema';
import { listAdapters, tasksSchema } from '@reelgate/tasks/config';
import type { KnownAdapters } from '@reelgate/tasks/config';
import { allowedHostsSchema } from './read-allowed-hosts.ts';
import { describeChannels } from './channels-schema.ts';
import type { ChannelsSchemaOptions } from './channels-schema.ts';
import { internalCallersSchema } from './internal-callers.ts';
import { liveSchema } from './live-settings.ts';

const address: object = { type: 'string', format: 'host-port' };

/** Returns the schema of the whole file: the program's own keys, and the keys of each service. */
export function describeConfig(known: KnownAdapters, channels: ChannelsSchemaOptions = {}) {
  return {
    type: 'object',
    additionalProperties: false,
    properties: {
      public_url: {
        type: 'string',
        pattern: '^https?://[^\\s/]+(/[^\\s?#]*)?$',
        description: 'an http:// or https:// address without a query',
        default: 'http://127.0.0.1:8080',
      },
      allowed_hosts: allowedHostsSchema,
      data_dir: { type: 'string', default: './data' },
      signing_key: {
        type: 'string',
        minLength: 16,
        description: 'at least 16 characters, or nothing to have one made',
      },
      other_signing_keys: {
        type: 'array',
        maxItems: 3,
        description: 'at most three keys that signing_key replaces, or that will replace it',
        default: [],
        items: {
          type: 'object',
          additionalProperties: false,
          required: ['key'],
          properties: {
            key: { type: 'string', minLength: 16, description: 'at least 16 characters' },
            accept: { enum: ['all', 'tokens'], description: 'all or tokens', default: 'all' },
          },
        },
      },
      service_key: {
        type: 'string',
        minLength: 16,
        description: 'what `reelgate keys derive --service NAME` prints, for a service of its own',
      },
      require_service_key: { type: 'boolean', default: false },
      bus: busSchema,
      grpc: grpcSchema,
      tracing: traceSchema,
      ...liveSchema,
      internal_callers: internalCallersSchema,
      operators: operatorsSchema,
      sandbox: { type: 'object', additionalProperties: false, required: ['listen'], properties: { listen: address } },
      ...gatewaySchema,
      ...tasksSchema,
      channels: describeChannels(known, channels),
      ...billingSchema,
      ...mediaSchema,
    },
  } as const;
}

/** The schema of a file that names no adapter of an operator. */
export const CONFIG_SCHEMA = describeConfig(listAdapters([]));
