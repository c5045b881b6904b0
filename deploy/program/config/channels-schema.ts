import { termsSchema } from '@reelgate/billing/config';
import { relayChannelSchema } from '@reelgate/gateway/config';
import { describeAdapters, videoChannelSchema } from '@reelgate/tasks/config';
import type { KnownAdapters } from '@reelgate/tasks/config';

const WHOLE_MAX = 2 ** 31 - 1;
const name: object = { type: 'string', minLength: 1, maxLength: 128 };
const wholeFrom1 = (byDefault: number): object => ({
  type: 'integer',
  minimum: 1,
  maximum: WHOLE_MAX,
  default: byDefault,
  description: 'a whole number from 1',
});
const section = (properties: object): object => ({
  type: 'object',
  additionalProperties: false,
  properties,
  default: {},
});

/** The services that call upstreams, each with its own keys of a channel. */
const PARTS = [videoChannelSchema, relayChannelSchema] as const;
const mergeParts = (key: 'properties' | 'limits' | 'timeouts'): object =>
  Object.fromEntries(PARTS.flatMap((part) => Object.entries(part[key])));

export interface ChannelsSchemaOptions {
  /** The schema of the name of an adapter; by default it accepts the known ones. */
  readonly named?: object | undefined;
  /** The adapters that the value names; by default it may name each of them. The keys of the others are left out. */
  readonly used?: ReadonlySet<unknown> | undefined;
}

/** Returns the JSON Schema of the list `channels`: the keys of every channel, and the keys of the service that calls it. */
export function describeChannels(
  known: KnownAdapters,
  { named = { enum: listAdapterNames(known) }, used }: ChannelsSchemaOptions = {},
): object {
  const { endpointsByAdapter, propertiesByAdapter } = describeAdapters(known);
  const ownKeys = Object.entries(propertiesByAdapter).filter(([adapter]) => used === undefined || used.has(adapter));
  const byService = [
    { names: Object.keys(endpointsByAdapter), required: videoChannelSchema.required },
    { names: Object.keys(relayChannelSchema.endpointsByAdapter), required: relayChannelSchema.required },
  ];
  const endpoints = Object.values({ ...endpointsByAdapter, ...relayChannelSchema.endpointsByAdapter }).flat();
  return {
    type: 'array',
    default: [],
    items: {
      type: 'object',
      additionalProperties: false,
      required: ['id', 'adapter', 'base_url', 'api_key', 'endpoints', 'models'],
      properties: {
        id: name,
        adapter: named,
        base_url: { type: 'string', pattern: '^https?://[^\\s]+$', description: 'an http:// or https:// URL' },
        api_key: name,
        endpoints: {
          type: 'array',
          minItems: 1,
          uniqueItems: true,
          items: { enum: [...new Set(endpoints)] },
        },
        models: { type: 'object', minProperties: 1, additionalProperties: name },
        upstream_prices: {
          type: 'object',
          description: 'what the upstream charges, by price key such as Alpha-H3: { per_second: "0.05" }',
          additionalProperties: termsSchema,
        },
        priority: { type: 'integer', minimum: -WHOLE_MAX, maximum: WHOLE_MAX, default: 0 },
        weight: { type: 'number', exclusiveMinimum: 0, maximum: 1_000_000, default: 1 },
        enabled: { type: 'boolean', default: true },
        limits: section({ requests_per_minute: wholeFrom1(300), in_flight: wholeFrom1(30), ...mergeParts('limits') }),
        timeouts: section(mergeParts('timeouts')),
        ...mergeParts('properties'),
      },
      allOf: [
        ...ownKeys.map(([adapter, properties]) => ({
          if: { properties: { adapter: { const: adapter } }, required: ['adapter'] },
          then: { properties },
        })),
        ...byService.map(({ names, required }) => ({
          if: { properties: { adapter: { enum: names } } },
          then: { properties: Object.fromEntries(required.map((key) => [key, true])), required },
        })),
      ],
    },
  };
}

/** Returns the names that the adapter of a channel can have. */
export function listAdapterNames(known: KnownAdapters): readonly string[] {
  return [...Object.keys(known), ...Object.keys(relayChannelSchema.endpointsByAdapter)];
}

/** Returns the endpoints that a channel with this adapter can have. */
export function listEndpoints(known: KnownAdapters, adapter: string): readonly string[] {
  const relay: Readonly<Record<string, readonly string[]>> = relayChannelSchema.endpointsByAdapter;
  return known[adapter]?.endpoints ?? relay[adapter] ?? [];
}

/** Reports whether the gateway calls the channels of this adapter, for the synchronous routes. */
export function isRelayAdapter(adapter: string): boolean {
  return Object.hasOwn(relayChannelSchema.endpointsByAdapter, adapter);
}
