import type { Adapter, Attempt, Json, PollResult, Steps, UpstreamAnswer } from '@reelgate/adapter-kit';
import { isSuccess, readId, readObject, readText, toSubmission } from '@reelgate/adapter-kit/kit';
import { buildFalSubmit, findFalEndpoint, listTargets } from './fal.body.ts';
import { findBySeed, PLATFORM, REQUESTS } from './fal.find.ts';
import { FAL_MODELS } from './fal.families.ts';
import { FAL_EXTRA, FAL_MODEL_SCHEMA, readApp } from './fal.models.ts';
import type { FalModel } from './fal.models.ts';
import { ERROR_TYPE_HEADER, FAL_ERRORS, isCompleted, readError, toResult, toStatusResult } from './fal.report.ts';

const OPTIONS_SCHEMA: Json = {
  type: 'object',
  additionalProperties: false,
  properties: { models: { type: 'object', additionalProperties: FAL_MODEL_SCHEMA } },
};
const TIME_HEADER = 'x-fal-webhook-timestamp';
const CANCELLED = 'client_cancelled';
/** Any endpoint does: the answer shows whether the key is taken. */
const TEST_ENDPOINT = 'fal-ai/veo3.1';

/**
 * The queue of fal. Sources: npm @fal-ai/client 1.10.1 (src/queue.js for routes, src/types/endpoints.d.ts for the
 * inputs of the models), npm @ai-sdk/fal 2.0.59 for the answer to a result that is asked for too early, and fal.ai/docs
 * (inference-api/queue: status, result, cancel; documentation/model-apis: errors, request-errors, webhooks;
 * platform-apis/v1/models/requests/by-endpoint). One third party alone says that a result can be gone from completed
 * work, that `no_media_generated` is about content, and that Hailuo makes 768p. Tested against recorded shapes and a
 * fake only, not against a live upstream.
 *
 * The id of a request is of no use without its owner and app, so the upstream id is `owner/app/request_id`. Work that
 * is `COMPLETED` may have failed or been cancelled: its result shows which.
 */
export const fal: Adapter = {
  kit: 1,
  endpoints: ['video.generation'],
  credential: { header: 'authorization', scheme: 'Key' },
  hosts: { [PLATFORM]: 'https://api.fal.ai' },
  answerHeaders: [ERROR_TYPE_HEADER],
  extraFields: FAL_EXTRA,
  options: OPTIONS_SCHEMA,
  callbacks: {
    signature: {
      form: 'ed25519',
      header: 'x-fal-webhook-signature',
      signedHeaders: ['x-fal-webhook-request-id', 'x-fal-webhook-user-id', TIME_HEADER],
      timeHeader: TIME_HEADER,
      keys: 'https://rest.fal.ai/.well-known/jwks.json',
    },
    readId: (body, model) => toUpstreamId(readId(body['request_id']), readApp(model ?? '')),
  },
  openCalls: ({ options }) => {
    const models = { ...FAL_MODELS, ...(options['models'] as Readonly<Record<string, FalModel>> | undefined) };
    const targets = listTargets(models);
    return {
      listExtra: (order) => findFalEndpoint(targets, order)?.extra ?? [],
      buildSubmit: (attempt) => buildFalSubmit(targets, attempt),
      readSubmit: (answer, attempt) =>
        toSubmission(answer, {
          upstreamId: readUpstreamId(readObject(answer.body), attempt),
          error: isSuccess(answer.status) ? undefined : readError(answer),
          table: FAL_ERRORS,
        }),
      poll: pollWork,
      find: (lost) => findBySeed(models, lost),
      cancel: cancelWork,
      *test() {
        const answer = yield {
          method: 'GET',
          path: `${REQUESTS}?endpoint_id=${encodeURIComponent(TEST_ENDPOINT)}&limit=1`,
          host: PLATFORM,
        };
        return answer.status === 200 && Array.isArray(readObject(answer.body)['items'])
          ? { ok: true, detail: 'the history of requests was read' }
          : { ok: false, detail: readError(answer)?.message ?? `HTTP ${answer.status}` };
      },
    };
  },
};

/** The vendor wants the answered addresses used. Of them only the app is: the key goes to `base_url` alone. */
function readUpstreamId({ request_id: id, response_url: url }: Json, { model }: Attempt): string | undefined {
  const answered = /^https:\/\/[^/?#]+\/([^?#]+)\/requests\/[^/?#]+$/.exec(readText(url) ?? '')?.[1];
  const app = answered !== undefined && readApp(answered) === answered ? answered : readApp(model);
  return toUpstreamId(readId(id), app);
}

function toUpstreamId(requestId: string | undefined, app: string | undefined): string | undefined {
  return requestId === undefined || app === undefined ? undefined : `${app}/${requestId}`;
}

/** An id of another form is sent as one part of the path, where no work exists. */
function buildWorkPath(upstreamId: string): string {
  const app = readApp(upstreamId) ?? '';
  const rest = upstreamId.slice(app.length).replace(/^\//, '');
  return `${app === '' ? '' : `/${app}`}/requests/${encodeURIComponent(rest)}`;
}

function* pollWork(upstreamId: string): Steps<PollResult> {
  const path = buildWorkPath(upstreamId);
  const seen: UpstreamAnswer = yield { method: 'GET', path: `${path}/status?logs=0` };
  return isCompleted(seen) ? toResult(seen, yield { method: 'GET', path }) : toStatusResult(seen);
}

/**
 * 200 says that the work was taken from the queue. 202 says that it was asked to stop, and older pages say it of both,
 * so only the status that follows can confirm it.
 */
function* cancelWork(upstreamId: string): Steps<boolean> {
  const path = buildWorkPath(upstreamId);
  const { status, body } = yield { method: 'PUT', path: `${path}/cancel` };
  if (status === 200) return readObject(body)['status'] === 'OK';
  if (status !== 202) return false;
  const seen: UpstreamAnswer = yield { method: 'GET', path: `${path}/status?logs=0` };
  return isCompleted(seen) && readObject(seen.body)['error_type'] === CANCELLED;
}
