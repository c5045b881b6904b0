import type { Adapter, PollResult, UpstreamAnswer } from '@reelgate/adapter-kit';
import type * as Kit from '@reelgate/adapter-kit/kit';

/** An adapter of an imaginary API. Replace the paths, the fields and the words by the ones of your upstream. */
export default (kit: typeof Kit): Adapter => {
  const REPORTS: Kit.Reports = {
    waiting: (_work, status) => ({ phase: 'queued', status }),
    working: (_work, status) => ({ phase: 'running', status }),
    finished: (work, status) => ({ phase: 'succeeded', status, url: kit.readText(work['link']) }),
    broken: (work, status) => kit.toFailure(status, 'failed', work['why']),
  };
  const ROW: Kit.ModelRow = { seconds: { least: 1, most: 10 }, resolutions: ['768P'], ratios: ['16:9'] };

  const readError = (answer: UpstreamAnswer): Kit.ApiError | undefined => {
    const message = kit.readText(kit.readObject(answer.body)['error']);
    return message === undefined ? undefined : { message };
  };
  const toPollResult = (answer: UpstreamAnswer): PollResult => {
    const work = kit.readObject(answer.body);
    const status = kit.readText(work['state']);
    return answer.status === 200 && status !== undefined
      ? { found: true, report: kit.readReport(REPORTS, work, status) }
      : kit.toNothingFound(answer, readError(answer));
  };

  return {
    kit: 1,
    endpoints: ['video.generation'],
    credential: { header: 'authorization', scheme: 'Bearer' },
    openCalls: () => ({
      buildSubmit: (attempt) => {
        const unfit = kit.findUnfit(ROW, attempt);
        if (unfit !== undefined) return { unfit };
        const { model, content, duration } = attempt;
        return {
          method: 'POST',
          path: '/v2/renders',
          json: kit.toFields({ model, prompt: kit.joinTexts(content), seconds: duration }),
        };
      },
      readSubmit: (answer) =>
        kit.toSubmission(answer, {
          upstreamId: kit.readId(kit.readObject(answer.body)['render']),
          error: readError(answer),
          table: {},
        }),
      *poll(upstreamId) {
        return toPollResult(yield { method: 'GET', path: `/v2/renders/${encodeURIComponent(upstreamId)}` });
      },
      *cancel(upstreamId) {
        const { status } = yield { method: 'DELETE', path: `/v2/renders/${encodeURIComponent(upstreamId)}` };
        return status === 204;
      },
      *test() {
        const { status } = yield { method: 'GET', path: '/v2/account' };
        return { ok: status === 200, detail: `HTTP ${status}` };
      },
    }),
  };
};
