import { termsSchema } from '@reelgate/billing/config';
import { relayChannelEndpoints, relayChannelKeys } from '@reelgate/gateway/config';
import { upstreamKeys } from '@reelgate/platform/config/upstream-keys';
import { sectionSchema } from '@reelgate/platform/config/settings';
import { describeAdapters, videoChannelKeys } from '@reelgate/tasks/config';
import type { KnownAdapters } from '@reelgate/tasks/config';

/** The services that call upstreams, each with its own keys of a channel. */
const PARTS = [sectionSchema(videoChannelKeys), sectionSchema(relayChannelKeys)] as const;
const COMMON = sectionSchema(upstreamKeys);
const mergeSections = (key: 'limits' | 'timeouts') => ({
  ...PARTS[0].properties[key],
  properties: Object.fromEntries(
    PARTS.flatMap(({ properties }) => Object.entries(properties[key]?.['properties'] ?? {})),
  ),
});

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
    { names: Object.keys(endpointsByAdapter), required: listOwnRequired(PARTS[0]) },
    { names: Object.keys(relayChannelEndpoints), required: listOwnRequired(PARTS[1]) },
  ];
  const endpoints = Object.values({ ...endpointsByAdapter, ...relayChannelEndpoints }).flat();
  return {
    type: 'array',
    default: [],
    items: {
      ...COMMON,
      required: [...(COMMON.required ?? []), 'adapter'],
      properties: {
        ...PARTS[1].properties,
        ...PARTS[0].properties,
        adapter: {
          ...named,
          about: 'the API of the upstream: an adapter, one of your own, or `relay`',
        },
        endpoints: { ...COMMON.properties['endpoints'], items: { enum: [...new Set(endpoints)] } },
        upstream_prices: {
          about: 'the upstream prices of the models, from which costs are estimated',
          absent: 'not known',
          type: 'object',
          description: 'what the upstream charges, by price key such as Alpha-H3: { per_second: "0.05" }',
          additionalProperties: termsSchema,
        },
        limits: mergeSections('limits'),
        timeouts: mergeSections('timeouts'),
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

/** The required keys of a channel of one service. */
function listOwnRequired({ required = [] }: (typeof PARTS)[number]): readonly string[] {
  return required.filter((key) => COMMON.required?.includes(key) !== true);
}

/** Returns the names that the adapter of a channel can have. */
export function listAdapterNames(known: KnownAdapters): readonly string[] {
  return [...Object.keys(known), ...Object.keys(relayChannelEndpoints)];
}

/** Returns the endpoints that a channel with this adapter can have. */
export function listEndpoints(known: KnownAdapters, adapter: string): readonly string[] {
  return known[adapter]?.endpoints ?? relayChannelEndpoints[adapter] ?? [];
}

/** Reports whether the gateway calls the channels of this adapter, for the synchronous routes. */
export function isRelayAdapter(adapter: string): boolean {
  return Object.hasOwn(relayChannelEndpoints, adapter);
}
