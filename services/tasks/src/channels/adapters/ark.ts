import type {
  Adapter,
  Attempt,
  AttemptItem,
  MediaKind,
  PollResult,
  Steps,
  UpstreamAnswer,
} from '@reelgate/adapter-kit';
import { isSuccess, readId, readObject, toFields, toNothingFound, toSubmission } from '@reelgate/adapter-kit/kit';
import { ARK_ERRORS, readError } from './ark.errors.ts';
import { ARK_EXTRA, findArkUnfit, listArkExtra, toExtraBody, toRatio } from './ark.extra.ts';
import { findByMark, listWork } from './ark.find.ts';
import { toReport } from './ark.report.ts';

const TYPE_OF: Readonly<Record<MediaKind, string>> = { image: 'image_url', video: 'video_url', audio: 'audio_url' };
/** This upstream reads `--dur 12` in a prompt as a command, and would render a longer video than the charged one. */
const COMMAND = /--(?=[a-z])/gi;
const DASH = '—';

const TASKS = '/api/v3/contents/generations/tasks';
/** The reference does not say how soon the list shows work. */
const VISIBLE_AFTER_MS = 120_000;

/**
 * The video generation of Volcengine Ark and BytePlus ModelArk (the Seedance models). Sources: the official Python SDK
 * (volcengine-ark-runtime 5.0.54, resources and types of content_generation) and the API reference
 * (volcengine.com/docs/82379: 1520757 create, 1521309 query, 1521675 list, 1521720 cancel or delete, 1299023 error
 * codes; the page of Seedance 2.5 for the fields that each model takes). The status `expired` and the effect of DELETE in
 * each state come from the newer reference, as resellers repeat it (docs.powertokens.ai, docs.ai-tokenhub.com). Tested against recorded shapes only, not against a live
 * upstream. The reference does not say whether an error with 5xx comes before acceptance, so its outcome counts as
 * unknown.
 *
 * The upstream takes no id of its caller. It shows after how many seconds it gives work up, and each attempt chooses them by
 * its key, so a lost answer is found exactly. `safety_identifier` would be shown too, but is that of a person. Callbacks
 * have the body of a read, and no signature.
 */
export const ark: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Bearer' },
  extraFields: ARK_EXTRA,
  callbacks: { readId: (task) => readId(task['id']) },
  visibleAfterMs: VISIBLE_AFTER_MS,
  openCalls: () => ({
    listExtra: listArkExtra,
    buildSubmit: (attempt) => {
      const unfit = findArkUnfit(attempt);
      return unfit === undefined ? { method: 'POST', path: TASKS, json: toUpstreamBody(attempt) } : { unfit };
    },
    readSubmit: (answer) =>
      toSubmission(answer, {
        upstreamId: readId(readObject(answer.body)['id']),
        error: readError(answer.body),
        table: ARK_ERRORS,
      }),
    *poll(upstreamId) {
      return toPollResult(yield { method: 'GET', path: buildTaskPath(upstreamId) });
    },
    find: (lost) => findByMark(TASKS, lost),
    *list(since) {
      const works = yield* listWork(TASKS, since);
      return works?.map(({ mark: _mark, ...work }) => work);
    },
    cancel: cancelIfQueued,
    *test() {
      const { status, body } = yield { method: 'GET', path: `${TASKS}?page_num=1&page_size=1` };
      return status === 200 && Array.isArray(readObject(body)['items'])
        ? { ok: true, detail: 'the list was read' }
        : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
    },
  }),
};

function buildTaskPath(upstreamId: string): string {
  return `${TASKS}/${encodeURIComponent(upstreamId)}`;
}

function toPollResult(answer: UpstreamAnswer): PollResult {
  const task = readObject(answer.body);
  return answer.status === 200 && typeof task['status'] === 'string'
    ? { found: true, report: toReport(task) }
    : toNothingFound(answer, readError(answer.body));
}

/**
 * DELETE cancels queued work, but deletes the record and result of ended work. It is sent only if the work is queued.
 */
function* cancelIfQueued(upstreamId: string): Steps<boolean> {
  const path = buildTaskPath(upstreamId);
  const seen = yield { method: 'GET', path };
  if (seen.status !== 200 || readObject(seen.body)['status'] !== 'queued') return false;
  const { status, body } = yield { method: 'DELETE', path };
  return isSuccess(status) && readError(body) === undefined;
}

/** The body of a create. The API writes resolutions in lower case. */
function toUpstreamBody(attempt: Attempt): object {
  const { model, content, resolution, callbackUrl } = attempt;
  return toFields({
    model,
    content: content.map(toContentItem),
    resolution: resolution?.toLowerCase(),
    ratio: toRatio(attempt),
    callback_url: callbackUrl,
    ...toExtraBody(attempt),
  });
}

function toContentItem(item: AttemptItem): object {
  if ('text' in item) return { type: 'text', text: item.text.replaceAll(COMMAND, DASH) };
  const type = TYPE_OF[item.media];
  return toFields({ type, [type]: { url: item.url }, role: item.role });
}
