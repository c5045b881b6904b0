import { custom, flag, list, record, secret, text, whole } from './settings.ts';

const WEIGHT_MAX = 1_000_000;
const PRIORITY_MAX = 2 ** 31 - 1;
const NAME = { minLength: 1, maxLength: 128 } as const;

/** The keys by which a service calls an upstream. */
export const upstreamKeys = {
  id: text('its name', { required: true, ...NAME }),
  base_url: text('the address of the upstream', {
    required: true,
    pattern: '^https?://[^\\s]+$',
    expects: 'an http:// or https:// URL',
  }),
  api_key: secret('the credential', { required: true, ...NAME }),
  endpoints: list('what it may be used for', text('the name of an endpoint'), {
    required: true,
    minItems: 1,
    uniqueItems: true,
  }),
  models: record('public id: upstream id', text('the id of the upstream', NAME), { required: true, minProperties: 1 }),
  priority: whole('those with a higher one are tried first', { default: 0, min: -PRIORITY_MAX, max: PRIORITY_MAX }),
  weight: custom(
    'the share among those of equal priority',
    { type: 'number', exclusiveMinimum: 0, maximum: WEIGHT_MAX },
    { default: 1 },
    (weight: number) => weight,
  ),
  enabled: flag('`false`: it gets no new work', { default: true }),
  limits: {
    requests_per_minute: whole('the most submissions or calls in any minute, over all replicas', { default: 300 }),
    in_flight: whole('the most unfinished work, over all replicas; that of calls needs `gateway.redis`', {
      default: 30,
      as: 'inFlightMax',
    }),
  },
};
