import type { Json, ListedWork, Report } from '@reelgate/adapter-kit';
import {
  readCount,
  readId,
  readIsoTime,
  readObject,
  readReport,
  readText,
  readWebUrl,
  toContentFailure,
  toFailure,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { Reports } from '@reelgate/adapter-kit/kit';
import type { ReplicateModel } from './replicate.models.ts';

/** A failure has a text and no code, so refused content shows in words of the models alone. */
const CONTENT = /flagged as sensitive|\(E005\)|\bNSFW\b/i;
const FILES_LIVE_MS = 3_600_000;

const REPORTS: Reports = {
  starting: (_work, status) => ({ phase: 'queued', status }),
  processing: (_work, status) => ({ phase: 'running', status }),
  succeeded: toSuccessReport,
  failed: (work, status) =>
    CONTENT.test(readText(work['error']) ?? '')
      ? toContentFailure(status, work['error'])
      : toFailure(status, undefined, work['error']),
  canceled: (_work, status) => toFailure(status, status, undefined),
  aborted: (_work, status) => toFailure(status, status, undefined),
};

/** Converts a prediction into a report. */
export function toReport(work: Json): Report {
  return withEndTime(readReport(REPORTS, work, String(work['status'])), readIsoTime(work['completed_at']));
}

/** A result that the upstream has removed never comes back, so the work counts as failed. */
function toSuccessReport(work: Json, status: string): Report {
  const { output, data_removed: isRemoved, completed_at: completedAt } = work;
  if (isRemoved === true && (output === null || output === undefined))
    return toFailure(status, 'result_removed', 'the generator removed the result before it was fetched');
  const endedAt = readIsoTime(completedAt);
  return {
    phase: 'succeeded',
    status,
    url: readWebUrl(Array.isArray(output) ? output[0] : output),
    ...(endedAt === undefined ? {} : { urlDiesAt: endedAt + FILES_LIVE_MS }),
  };
}

/** The id of the model as the configuration writes it: with the version if a row has it. */
export function toListedWork(models: Readonly<Record<string, ReplicateModel>>, item: unknown): ListedWork {
  const work = readObject(item);
  const name = readText(work['model']) ?? '';
  const versioned = `${name}:${readText(work['version']) ?? ''}`;
  const model = Object.hasOwn(models, versioned) ? versioned : name;
  const inputs = Object.hasOwn(models, model) ? models[model]?.inputs : undefined;
  const input = readObject(work['input']);
  return {
    upstreamId: readId(work['id']) ?? '',
    kind: 'generation',
    model,
    duration: readCount(input[inputs?.duration ?? '']),
    resolution: readText(input[inputs?.resolution ?? '']),
    ratio: readText(input[inputs?.ratio ?? '']),
    createdAt: readIsoTime(work['created_at']) ?? 0,
  };
}
