import type { Report } from '../domain/report.ts';
import type { Usage } from '../domain/task.ts';
import { readCount, readSecondsAsMs } from './json-fields.ts';
import type { Json } from './json-fields.ts';

/** Reads a usage in the fields of the vendor's V2 API, which this service uses for its own clients too. */
export function readUsage(usage: Json): Usage | undefined {
  const read: Usage = {
    totalSeconds: readCount(usage['total_seconds']),
    inputSeconds: readCount(usage['input_seconds']),
    outputSeconds: readCount(usage['output_seconds']),
    inputImageCount: readCount(usage['input_image_count']),
    inputAudioSeconds: readCount(usage['input_audio_seconds']),
    totalTokens: readCount(usage['total_tokens']),
    promptTokens: readCount(usage['prompt_tokens']),
    completionTokens: readCount(usage['completion_tokens']),
  };
  return Object.values(read).some((value) => value !== undefined) ? read : undefined;
}

/** The report with the time at which the work ended, in seconds since 1970 as the upstream gives it. */
export function withEndTime(report: Report, seconds: unknown): Report {
  const endedAt = readSecondsAsMs(seconds);
  const hasEnded = report.phase === 'succeeded' || report.phase === 'failed';
  return hasEnded && endedAt !== undefined ? { ...report, endedAt } : report;
}
