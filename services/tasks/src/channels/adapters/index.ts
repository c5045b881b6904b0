import type { ChannelFactory } from '../channel.ts';
import type { ExtraFields } from '../extra-fields.ts';
import { alphaV2Channel } from './alpha-v2.ts';
import { arkChannel } from './ark.ts';
import { discreet } from '../wrappers/discreet.ts';
import { generationOnly } from '../wrappers/generation-only.ts';
import { OPENAI_VIDEOS_EXTRA } from './openai-videos.extra.ts';
import { openaiVideosChannel } from './openai-videos.ts';
import { runwayChannel } from './runway.ts';
import { takingExtra } from '../wrappers/taking-extra.ts';

const NONE: ExtraFields = {};

/** What each adapter passes on of a create's fields that this service does not know. */
export const EXTRA_FIELDS = {
  // its schema is closed: the upstream refuses any other field
  'alpha-v2': NONE,
  ark: NONE,
  'openai-videos': OPENAI_VIDEOS_EXTRA,
  runway: NONE,
} as const satisfies Readonly<Record<string, ExtraFields>>;

/** Every adapter by the name that the configuration calls it. A new one is a file and a line here and above. */
export const ADAPTERS = {
  'alpha-v2': takingExtra(EXTRA_FIELDS['alpha-v2'], discreet(alphaV2Channel)),
  ark: takingExtra(EXTRA_FIELDS.ark, discreet(generationOnly(arkChannel))),
  'openai-videos': takingExtra(EXTRA_FIELDS['openai-videos'], discreet(generationOnly(openaiVideosChannel))),
  runway: takingExtra(EXTRA_FIELDS.runway, discreet(generationOnly(runwayChannel))),
} as const satisfies Readonly<Record<keyof typeof EXTRA_FIELDS, ChannelFactory>>;
