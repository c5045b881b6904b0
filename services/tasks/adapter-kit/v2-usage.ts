import type { Json, Usage } from './adapter.ts';
import { readCount, toUsage } from './kit.ts';

/** Reads a usage in the fields of the vendor's V2 API, which this service uses for its own clients too. */
export function readUsage(usage: Json): Usage | undefined {
  return toUsage({
    totalSeconds: readCount(usage['total_seconds']),
    inputSeconds: readCount(usage['input_seconds']),
    outputSeconds: readCount(usage['output_seconds']),
    inputImageCount: readCount(usage['input_image_count']),
    inputAudioSeconds: readCount(usage['input_audio_seconds']),
    totalTokens: readCount(usage['total_tokens']),
    promptTokens: readCount(usage['prompt_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
  });
}
