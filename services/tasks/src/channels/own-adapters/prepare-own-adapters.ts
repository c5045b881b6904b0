import type { ChannelSettings } from '../channel.ts';

/**
 * Prepares the adapters of operators for the options of their channels, and returns the same configuration. Rejects if
 * one refuses them.
 */
export async function prepareOwnAdapters<Config extends { readonly channels: readonly ChannelSettings[] }>(
  config: Config,
): Promise<Config> {
  await Promise.all(
    config.channels.map(async ({ ownAdapter, options }) => {
      await ownAdapter?.adapter.prepare?.({ options });
    }),
  );
  return config;
}
