import type { Usage } from '../domain/task.ts';
import { countOf } from './json-fields.ts';
import type { Json } from './json-fields.ts';

/** Reads a usage in the fields of the vendor's V2 API, which this service uses for its own clients too. */
export function usageOf(usage: Json): Usage | undefined {
  const read: Usage = {
    totalSeconds: countOf(usage['total_seconds']),
    inputSeconds: countOf(usage['input_seconds']),
    outputSeconds: countOf(usage['output_seconds']),
    inputImageCount: countOf(usage['input_image_count']),
    inputAudioSeconds: countOf(usage['input_audio_seconds']),
    totalTokens: countOf(usage['total_tokens']),
    promptTokens: countOf(usage['prompt_tokens']),
    completionTokens: countOf(usage['completion_tokens']),
  };
  return Object.values(read).some((value) => value !== undefined) ? read : undefined;
}
