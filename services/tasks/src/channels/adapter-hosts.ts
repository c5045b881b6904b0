import type { ChannelAdapter } from './channel-adapter.ts';

/** The name of the host that serves the public keys of an upstream. */
export const KEYS_HOST = 'keys';

/** Returns the further hosts of an adapter by their names, including the host of its public keys. */
export function listHosts({ hosts, callbacks }: ChannelAdapter): Readonly<Record<string, string>> {
  const { signature } = callbacks ?? {};
  return { ...hosts, ...(signature?.form === 'ed25519' ? { [KEYS_HOST]: new URL(signature.keys).origin } : {}) };
}

/** Reports whether an upstream signs its callbacks with a secret that it shares with the channel. */
export function signsWithSecret({ callbacks }: ChannelAdapter): boolean {
  const form = callbacks?.signature?.form;
  return form !== undefined && form !== 'ed25519';
}
