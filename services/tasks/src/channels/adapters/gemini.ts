import type { Adapter, ExtraFields, PollResult, Steps, UpstreamAnswer } from '@reelgate/adapter-kit';
import { readId, readObject, readText, toNothingFound, toSubmission } from '@reelgate/adapter-kit/kit';
import { buildSubmit, INTERACTIONS } from './gemini.body.ts';
import { GEMINI_ERRORS, readBlock, readError } from './gemini.errors.ts';
import { GEMINI_MODELS, GEMINI_OPTIONS } from './gemini.models.ts';
import type { GeminiModel } from './gemini.models.ts';
import { toInteractionReport, toOperationReport } from './gemini.report.ts';

const SEED_MAX = 2 ** 32 - 1;
const NEGATIVE_PROMPT_MAX = 2000;
/** The extra fields of an operation. An interaction takes neither. */
const GEMINI_EXTRA: ExtraFields = {
  seed: { type: 'whole', least: 0, most: SEED_MAX },
  negative_prompt: { type: 'text', charactersMax: NEGATIVE_PROMPT_MAX },
};

const MODELS = '/v1beta/models?pageSize=1';
/** The name of an operation is its id. Any other id belongs to an interaction. */
const OPERATION = /^models\/\w[\w.-]*\/operations\/\w[\w-]*$/;
/** The one answer of 400 that says that the work does not exist; another one may pass. */
const UNKNOWN_INTERACTION = /invalid interaction name/i;

/**
 * The Gemini API of Google: Omni by the Interactions API, and the long-running operations of Veo for models whose row
 * says so. Sources: PyPI google-genai 3.4.0 and npm `@google/genai` 3.1.0 (interactions: routes, fields, status words),
 * npm `@ai-sdk/google` 4.0.121 (google-video-model for the operations; interactions for images by https),
 * ai.google.dev/gemini-api/docs/video, /api-errors (codes) and /troubleshooting (a missing precondition). From third
 * parties alone: the words of a refused content, the 400 for an unknown interaction, the counts of references of Omni,
 * and what the lite model of Veo lacks. Tested against recorded shapes, and with both clients against a fake; not
 * against a live upstream.
 *
 * A video is ordered by its address, because one inside the interaction is sent twice: to the poll, and to the store. An
 * interaction that holds its bytes all the same is read too; `@google/genai` and `@ai-sdk/google` know that form.
 *
 * The API has no list and no id of the caller, and its webhooks are reported not to fire, so a person must search for
 * the work of a lost answer. No source shows the form in which Omni takes a last frame.
 */
export const gemini: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'x-goog-api-key' },
  extraFields: GEMINI_EXTRA,
  options: GEMINI_OPTIONS,
  openCalls: ({ options }) => {
    const models = { ...GEMINI_MODELS, ...(readObject(options['models']) as Readonly<Record<string, GeminiModel>>) };
    return {
      listExtra: ({ model }) => (models[model]?.form === 'operation' ? Object.keys(GEMINI_EXTRA) : []),
      buildSubmit: (attempt) => buildSubmit(models, attempt),
      readSubmit: (answer) => {
        const { id, name } = readObject(answer.body);
        const upstreamId = readId(id) ?? readText(name);
        // Work that has an id exists, even if it has an error.
        const error = upstreamId === undefined ? (readError(answer.body) ?? readBlock(answer.body)) : undefined;
        return toSubmission(answer, { upstreamId, error, table: GEMINI_ERRORS });
      },
      *poll(upstreamId) {
        const path = buildWorkPath(upstreamId);
        return toPollResult(yield { method: 'GET', path }, upstreamId, path);
      },
      cancel: cancelInteraction,
      *test() {
        const { status, body } = yield { method: 'GET', path: MODELS };
        return status === 200 && Array.isArray(readObject(body)['models'])
          ? { ok: true, detail: 'the models were read' }
          : { ok: false, detail: readError(body)?.message ?? `HTTP ${status}` };
      },
    };
  },
};

function buildWorkPath(upstreamId: string): string {
  return OPERATION.test(upstreamId) ? `/v1beta/${upstreamId}` : `${INTERACTIONS}/${encodeURIComponent(upstreamId)}`;
}

function toPollResult(answer: UpstreamAnswer, upstreamId: string, path: string): PollResult {
  const work = readObject(answer.body);
  if (answer.status === 200) {
    if (OPERATION.test(upstreamId) && (readText(work['name']) !== undefined || typeof work['done'] === 'boolean'))
      return { found: true, report: toOperationReport(work, path) };
    if (typeof work['status'] === 'string') return { found: true, report: toInteractionReport(work, path) };
  }
  const error = readError(answer.body);
  const isUnknown = answer.status === 400 && UNKNOWN_INTERACTION.test(error?.message ?? '');
  return toNothingFound(answer, error, isUnknown || answer.status === 404);
}

/** Operations have no cancel. */
function* cancelInteraction(upstreamId: string): Steps<boolean> {
  if (OPERATION.test(upstreamId)) return false;
  const { status, body } = yield { method: 'POST', path: `${buildWorkPath(upstreamId)}/cancel` };
  return status === 200 && readObject(body)['status'] === 'cancelled';
}
