import type { Json, Report, Usage } from '@reelgate/adapter-kit';
import {
  hasText,
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

/** Converts an interaction into a report. `path` is that of the poll whose answer it is. */
export function toInteractionReport(work: Json, path: string): Report {
  const report = withEndTime(readReport(REPORTS, work, String(work['status'])), readIsoTime(work['updated']));
  const isInside = report.phase === 'succeeded' && report.base64At !== undefined;
  return isInside ? { ...report, url: path } : report;
}

interface Content {
  readonly content: Json;
  /** The JSON pointer of the content in its interaction. */
  readonly pointer: string;
}

function listContents(work: Json): readonly Content[] {
  return readList(work['steps'])
    .map(readObject)
    .flatMap(({ type, content: contents }, step) =>
      type === 'model_output'
        ? readList(contents).map((content, index) => ({
            content: readObject(content),
            pointer: `/steps/${step}/content/${index}`,
          }))
        : [],
    );
}

/** A refusal of the content is completed work that says something and has no tokens of a video. */
function toSuccessReport(work: Json, status: string): Report {
  const contents = listContents(work);
  const isText = contents.length > 0 && contents.every(({ content }) => content['type'] === 'text');
  if (isText && !hasVideoTokens(work)) return toContentFailure(status);
  return {
    phase: 'succeeded',
    status,
    ...findVideo(contents),
    needsKey: true,
    usage: readUsage(readObject(work['usage'])),
  };
}

/** The first address of a video, as ordered. Without one, the bytes of the first video in the interaction itself. */
function findVideo(contents: readonly Content[]): { readonly url?: string; readonly base64At?: string } {
  const videos = contents.filter(({ content }) => content['type'] === 'video');
  const url = videos.map(({ content }) => readWebUrl(content['uri'])).find((uri) => uri !== undefined);
  if (url !== undefined) return { url };
  const inside = videos.find(({ content }) => hasText(content['data']));
  return inside === undefined ? {} : { base64At: `${inside.pointer}/data` };
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
