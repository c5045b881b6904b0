import type { Json, Report, Usage } from '@reelgate/adapter-kit';
import {
  readCount,
  readIsoTime,
  readList,
  readObject,
  readReport,
  readWebUrl,
  toContentFailure,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import { toErrorFailure } from './gemini.errors.ts';

const toFailureReport = (work: Json, status: string): Report =>
  toErrorFailure(status, work['error'] ?? readList(work['errors'])[0]);

const REPORTS: Reports = {
  queued: (_work, status) => ({ phase: 'queued', status }),
  in_progress: (_work, status) => ({ phase: 'running', status }),
  completed: toSuccessReport,
  failed: toFailureReport,
  cancelled: toFailureReport,
  incomplete: toFailureReport,
  budget_exceeded: toFailureReport,
  requires_action: toFailureReport,
  requires_continuation: toFailureReport,
};

/** Converts an interaction into a report. */
export function toInteractionReport(work: Json): Report {
  return withEndTime(readReport(REPORTS, work, String(work['status'])), readIsoTime(work['updated']));
}

/** A refusal of the content is completed work that says something and has no tokens of a video. */
function toSuccessReport(work: Json, status: string): Report {
  const contents = readList(work['steps'])
    .map(readObject)
    .filter(({ type }) => type === 'model_output')
    .flatMap(({ content }) => readList(content).map(readObject));
  const url = contents
    .filter(({ type }) => type === 'video')
    .map(({ uri }) => readWebUrl(uri))
    .find((uri) => uri !== undefined);
  const isText = contents.length > 0 && contents.every(({ type }) => type === 'text');
  if (isText && !hasVideoTokens(work)) return toContentFailure(status);
  return { phase: 'succeeded', status, url, needsKey: true, usage: readUsage(readObject(work['usage'])) };
}

function hasVideoTokens(work: Json): boolean {
  return readList(readObject(work['usage'])['output_tokens_by_modality'])
    .map(readObject)
    .some(({ modality, tokens }) => modality === 'video' && (readCount(tokens) ?? 0) > 0);
}

function readUsage(usage: Json): Usage | undefined {
  return toUsage({
    totalTokens: readCount(usage['total_tokens']),
    promptTokens: readCount(usage['total_input_tokens']),
    completionTokens: readCount(usage['total_output_tokens']),
  });
}

/** Converts an operation into a report. It has no status word. */
export function toOperationReport({ done, error, response }: Json): Report {
  if (done !== true) return { phase: 'running', status: 'not done' };
  if (error !== undefined && error !== null) return toErrorFailure('done', error);
  const made = readObject(readObject(response)['generateVideoResponse']);
  const samples = readList(made['generatedSamples']).map(readObject);
  const [url] = samples.flatMap(({ video }) => readWebUrl(readObject(video)['uri']) ?? []);
  const isFiltered = (readCount(made['raiMediaFilteredCount']) ?? 0) > 0;
  if (url === undefined && isFiltered) return toContentFailure('done');
  return { phase: 'succeeded', status: 'done', url, needsKey: true };
}
