import { flagExtra, numberExtra, textExtra, wholeExtra } from '../extra-fields.ts';
import type { ExtraFields } from '../extra-fields.ts';

const SEED_MAX = 2 ** 32 - 1;
const NEGATIVE_PROMPT_MAX = 2000;
const STYLE_MAX = 64;
const USER_MAX = 256;
const GUIDANCE_MAX = 100;

/**
 * Controls that gateways of this kind add to the API. None of them names a media file or a URL, changes the cost (`n`,
 * `quality`, `fps`, …) or says where something is sent.
 */
export const OPENAI_VIDEOS_EXTRA: ExtraFields = {
  seed: wholeExtra(-1, SEED_MAX),
  style: textExtra(STYLE_MAX),
  negative_prompt: textExtra(NEGATIVE_PROMPT_MAX),
  user: textExtra(USER_MAX),
  guidance_scale: numberExtra(0, GUIDANCE_MAX),
  cfg_scale: numberExtra(0, GUIDANCE_MAX),
  prompt_optimizer: flagExtra,
  prompt_extend: flagExtra,
  camera_fixed: flagExtra,
  watermark: flagExtra,
  aigc_watermark: flagExtra,
};
