import type { Kind, Order } from './order.ts';
import type { Resolution } from './render/frame-format.ts';
import type { Script } from './steering/script.ts';

// The vendor does not publish its rates. These give about the figures of its examples.
const tokensPerSecond: Readonly<Record<Resolution, number>> = { '480P': 8000, '768P': 20_000, '2K': 52_000 };
const tokensPerRegeneratedSecond = 19_500;
const tokensPerImage = 2250;
const tokensPerAudioSecond = 1900;

/** The usage that a success reports: seconds and tokens for a video, only tokens for a context-IR. */
export function computeUsage(order: Order, { usage }: Script, promptLength: number): Readonly<Record<string, number>> {
  if (!usage.told) return {};
  if (order.kind === 'h3_context_ir')
    return toTokenCounts(
      Math.ceil(order.text.length / 2) + countMediaTokens(order) + 500,
      Math.ceil(promptLength / 3),
      usage.tokens,
    );
  const outputSeconds = usage.seconds ?? order.duration;
  const inputSeconds = usage.seconds === undefined ? order.inputSeconds : 0;
  return {
    total_seconds: inputSeconds + outputSeconds,
    input_seconds: inputSeconds,
    output_seconds: outputSeconds,
    input_image_count: countImages(order),
    ...(order.roles.includes('reference_audio') ? { input_audio_seconds: order.inputAudioSeconds } : {}),
    ...toTokenCounts(countMediaTokens(order), outputSeconds * secondTokens(order.kind, order.resolution), usage.tokens),
  };
}

function toTokenCounts(
  prompt: number,
  completion: number,
  total: number | undefined,
): Readonly<Record<string, number>> {
  const promptTokens = total === undefined ? prompt : Math.min(prompt, Math.floor(total / 2));
  const completionTokens = total === undefined ? completion : total - promptTokens;
  return {
    total_tokens: promptTokens + completionTokens,
    prompt_tokens: promptTokens,
    completion_tokens: completionTokens,
  };
}

function countMediaTokens(order: Order): number {
  return countImages(order) * tokensPerImage + order.inputAudioSeconds * tokensPerAudioSecond;
}

function countImages({ roles }: Order): number {
  return roles.filter((role) => role === 'first_frame' || role === 'last_frame' || role === 'reference_image').length;
}

function secondTokens(kind: Kind, resolution: Resolution | undefined): number {
  return kind === 'regeneration' ? tokensPerRegeneratedSecond : tokensPerSecond[resolution ?? '768P'];
}
