import type { Adapter, Attempt, PollResult, UpstreamAnswer } from '@reelgate/adapter-kit';
import type * as Kit from '@reelgate/adapter-kit/kit';

/** The creates and polls of `alpha-v2` as an operator would write them. */
export default (kit: typeof Kit): Adapter => {
  const REPORTS: Kit.Reports = {
    queued: (_work, status) => ({ phase: 'queued', status }),
    running: (_work, status) => ({ phase: 'running', status }),
    succeeded: (work, status) => ({
      phase: 'succeeded',
      status,
      url: kit.readText(kit.readObject(work['content'])['url']),
    }),
    failed: (work, status) => kit.toFailure(status, 'failed', kit.readObject(work['error'])['message']),
  };
  const readError = ({ body }: UpstreamAnswer): Kit.ApiError | undefined => {
    const message = kit.readText(kit.readObject(kit.readObject(body)['error'])['message']);
    return message === undefined ? undefined : { message };
  };
  const toPollResult = (answer: UpstreamAnswer): PollResult => {
    const work = kit.readObject(kit.readObject(answer.body)['task']);
    const status = kit.readText(work['status']);
    return answer.status === 200 && status !== undefined
      ? { found: true, report: kit.readReport(REPORTS, work, status) }
      : kit.toNothingFound(answer, readError(answer));
  };
  const toBody = ({ model, content, resolution, duration, ratio, callbackUrl }: Attempt): object =>
    kit.toFields({
      model,
      content: content.map((item) => ('text' in item ? { type: 'text', text: item.text } : { type: 'image_url' })),
      resolution,
      duration,
      ratio,
      callback_url: callbackUrl,
    });
  return {
    kit: 1,
    endpoints: ['video.generation'],
    credential: { header: 'authorization', scheme: 'Bearer' },
    openCalls: () => ({
      buildSubmit: (attempt) => ({ method: 'POST', path: '/v2/video_generation', json: toBody(attempt) }),
      readSubmit: (answer) =>
        kit.toSubmission(answer, {
          upstreamId: kit.readId(kit.readObject(answer.body)['task_id']),
          error: readError(answer),
          table: {},
        }),
      *poll(upstreamId) {
        const path = `/v2/query/video_generation/${encodeURIComponent(upstreamId)}`;
        return toPollResult(yield { method: 'GET', path });
      },
      *test() {
        const { status } = yield { method: 'GET', path: '/v2/query/video_generation' };
        return { ok: status === 200, detail: `HTTP ${status}` };
      },
    }),
  };
};
