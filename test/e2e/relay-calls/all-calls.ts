import { aiCalls } from './ai-calls.ts';
import { anthropicCalls } from './anthropic-calls.ts';
import { cohereCalls } from './cohere-calls.ts';
import { googleCalls } from './google-calls.ts';
import { openaiCalls } from './openai-calls.ts';
import type { SdkCall } from './sdk-call.ts';

/** Every route with one model and one answer, called by every official SDK that has it. */
export const sdkCalls: readonly SdkCall[] = [
  ...openaiCalls,
  ...anthropicCalls,
  ...googleCalls,
  ...aiCalls,
  ...cohereCalls,
];
