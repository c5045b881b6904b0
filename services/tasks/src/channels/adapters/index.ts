import type { ChannelFactory } from '../channel.ts';
import { alphaV2Channel } from './alpha-v2.ts';
import { arkChannel } from './ark.ts';
import { discreet } from './discreet.ts';
import { generationOnly } from './generation-only.ts';
import { openaiVideosChannel } from './openai-videos.ts';
import { runwayChannel } from './runway.ts';

/** Every adapter by the name that the configuration calls it. A new one is a file and a line here. */
export const ADAPTERS = {
  'alpha-v2': discreet(alphaV2Channel),
  ark: discreet(generationOnly(arkChannel)),
  'openai-videos': discreet(generationOnly(openaiVideosChannel)),
  runway: discreet(generationOnly(runwayChannel)),
} as const satisfies Readonly<Record<string, ChannelFactory>>;
