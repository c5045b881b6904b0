import type { Keys } from '@reelgate/platform/config/config-locations';
import { ALPHA, isPrivate, listAdapters } from '@reelgate/tasks/config';
import { isRelayAdapter, listEndpoints } from '../channels-schema.ts';
import { ALPHA_ONLY } from './price-findings.ts';
import { refuseIf, warn } from './finding.ts';
import type { ComparedConfig, Finding } from './finding.ts';

export function checkChannelIds({ channels }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ id }, at) =>
    refuseIf(
      channels.findIndex((other) => other.id === id) < at,
      ['channels', at, 'id'],
      `another channel is called ${id}; expected an id that no other channel has`,
    ),
  );
}

export function checkChannelModels({ channels, models }: ComparedConfig): readonly Finding[] {
  const known = Object.keys(models);
  return channels.flatMap((channel, at) =>
    (isRelayAdapter(channel.adapter) ? [] : Object.keys(channel.models)).flatMap((model) =>
      refuseIf(
        !Object.hasOwn(models, model),
        ['channels', at, 'models', model],
        `no such model; expected one of the keys under models: ${known.join(', ')}`,
      ),
    ),
  );
}

export function checkChannelEndpoints({ channels, adapters }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ adapter, endpoints }, at) => {
    const known = listEndpoints(listAdapters(adapters), adapter);
    return endpoints.flatMap((endpoint, index) =>
      refuseIf(
        !known.includes(endpoint),
        ['channels', at, 'endpoints', index],
        `the adapter ${adapter} has no ${endpoint}; expected one of: ${known.join(', ')}`,
      ),
    );
  });
}

export function checkAlphaEndpoints({ channels }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ endpoints, models }, at) =>
    endpoints.flatMap((endpoint, index) =>
      refuseIf(
        ALPHA_ONLY[endpoint] !== undefined && !Object.hasOwn(models, ALPHA),
        ['channels', at, 'endpoints', index],
        `only the model ${ALPHA} has ${endpoint}, and this channel has ${Object.keys(models).join(', ')}; ` +
          'remove the endpoint',
      ),
    ),
  );
}

export function checkCallbackAddresses({ public_url: url, channels, adapters }: ComparedConfig): readonly Finding[] {
  return channels.flatMap(({ adapter, callbacks, enabled }, at) => {
    if (!callbacks || !enabled) return [];
    const keys: Keys = ['channels', at, 'callbacks'];
    if (listAdapters(adapters)[adapter]?.callbacks === undefined)
      return [warn(keys, `the adapter ${adapter} gives its upstream no address to call; remove the key`)];
    if (isPrivate(url))
      return [
        warn(
          keys,
          `an upstream elsewhere cannot reach the private public_url ${url}; ` +
            'expected a public https:// address, or callbacks: false',
        ),
      ];
    return refuseIf(
      url.startsWith('http://'),
      keys,
      'the secret address of a callback would cross the network in the clear; ' +
        'expected public_url to be https://, or callbacks: false',
    );
  });
}
