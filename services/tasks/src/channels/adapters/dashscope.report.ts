import type { Json, Report, Usage } from '@reelgate/adapter-kit';
import {
  CONTENT_REJECTED,
  readCount,
  readIsoTime,
  readObject,
  readReport,
  readText,
  toFailure,
  toUsage,
  withEndTime,
} from '@reelgate/adapter-kit/kit';
import type { ErrorTable, Reports } from '@reelgate/adapter-kit/kit';

const CONTENT = { DataInspectionFailed: 'content', IPInfringementSuspect: 'content' } as const;

/**
 * The code of an error says more than its status: a bill that is overdue is answered with 429, and an account in arrears
 * with 400. The reference does not say whether an error from status 500 on comes before acceptance.
 */
export const DASHSCOPE_ERRORS: ErrorTable = {
  codes: {
    ...CONTENT,
    InvalidApiKey: 'credential',
    Arrearage: 'credential',
    PrepaidBillOverdue: 'credential',
    PostpaidBillOverdue: 'credential',
    CommodityNotPurchased: 'credential',
    'AllocationQuota.FreeTierOnly': 'credential',
    ModelNotFound: 'channel',
    LimitRequests: 'throttle',
  },
  patterns: [
    [/(^|\.)AccessDenied$/, 'credential'],
    [/^Throttling(\.|$)/, 'throttle'],
    [/^(InvalidParameter|BadRequest)/, 'order'],
    [/^InternalError/, 'unknown'],
    // A media file that the upstream cannot read.
    [/url error, please check url/i, 'order', 'message'],
  ],
  statuses: { 503: 'unknown' },
};

/** A result is kept for a day. */
const RESULT_LIVES_MS = 24 * 60 * 60 * 1000;

const REPORTS: Reports = {
  PENDING: (_output, status) => ({ phase: 'queued', status }),
  SUSPENDED: (_output, status) => ({ phase: 'queued', status }),
  RUNNING: (_output, status) => ({ phase: 'running', status }),
  SUCCEEDED: (output, status) => {
    const endedAt = readEndTime(output);
    return {
      phase: 'succeeded',
      status,
      url: readText(output['video_url']),
      urlDiesAt: endedAt === undefined ? undefined : endedAt + RESULT_LIVES_MS,
    };
  },
  FAILED: (output, status) => {
    const code = readText(output['code']) ?? 'failed';
    return toFailure(status, Object.hasOwn(CONTENT, code) ? CONTENT_REJECTED.code : code, output['message']);
  },
  CANCELED: (_output, status) => toFailure(status, 'cancelled', undefined),
};

export function toReport(body: Json, output: Json, status: string): Report {
  const report = withEndTime(readReport(REPORTS, output, status), readEndTime(output));
  return report.phase === 'succeeded' ? { ...report, usage: readUsage(body['usage']) } : report;
}

/** The API bills the seconds of the input and of the output. */
function readUsage(value: unknown): Usage | undefined {
  const usage = readObject(value);
  return toUsage({
    totalSeconds: readCount(usage['duration']),
    inputSeconds: readCount(usage['input_video_duration']),
    outputSeconds: readCount(usage['output_video_duration']),
  });
}

/** Times are texts such as `2026-04-13 10:45:47.597`, without an offset, of the zone UTC+8. */
function readEndTime({ end_time: time }: Json): number | undefined {
  return typeof time === 'string' && /^[\d-]{10} [\d:.]{8,12}$/.test(time)
    ? readIsoTime(`${time.replace(' ', 'T')}+08:00`)
    : undefined;
}
