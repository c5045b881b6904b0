import { aiCalls } from './ai-calls.ts';
import { anthropicCalls } from './anthropic-calls.ts';
import { cohereCalls } from './cohere-calls.ts';
import { googleCalls } from './google-calls.ts';
import { openaiCalls } from './openai-calls.ts';
import type { SdkCall } from './sdk-call.ts';

/** Every route that has one model and one answer, by every official SDK that knows it. */
export const sdkCalls: readonly SdkCall[] = [
  ...openaiCalls,
  ...anthropicCalls,
  ...googleCalls,
  ...aiCalls,
  ...cohereCalls,
];
