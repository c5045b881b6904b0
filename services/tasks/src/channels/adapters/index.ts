import type { Adapter } from '@reelgate/adapter-kit';
import { alphaV2 } from './alpha-v2.ts';
import { ark } from './ark.ts';
import { dashscope } from './dashscope.ts';
import { fal } from './fal.ts';
import { gemini } from './gemini.ts';
import { kling } from './kling.ts';
import { openaiVideos } from './openai-videos.ts';
import { openrouter } from './openrouter.ts';
import { replicate } from './replicate.ts';
import { runway } from './runway.ts';
import { xai } from './xai.ts';

/** Every adapter under the name that the configuration uses. A new adapter is a file, a line here and its fixtures. */
export const ADAPTERS: Readonly<Record<string, Adapter>> = {
  'alpha-v2': alphaV2,
  ark,
  dashscope,
  fal,
  gemini,
  kling,
  'openai-videos': openaiVideos,
  openrouter,
  replicate,
  runway,
  xai,
};
