import type { ChannelFactory } from '../channel.ts';
import { alphaV2Channel } from './alpha-v2.ts';

/** Every adapter by the name that the configuration calls it. A new one is a file and a line here. */
export const ADAPTERS = {
  'alpha-v2': alphaV2Channel,
} as const satisfies Readonly<Record<string, ChannelFactory>>;
