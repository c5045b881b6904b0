import type { Problem } from '@reelgate/platform/problem';
import { documentedWebhookUrl } from '../dialects/wire/flat-fields.ts';
import { createJob } from './create-job.ts';
import type { CreateJobDeps } from './create-job.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { WaitPermits } from '../operations/await-change.ts';
import { RESULT_ANSWER, resultEnvelope } from './result-envelope.ts';
import type { Job } from '../clients/jobs-client.ts';
import { awaitJob, isOpen } from '../operations/await-job.ts';
import type { AwaitJobDeps } from '../operations/await-job.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import { closeWithoutAccess, waitWithAccess } from '../http/admission/watch-access.ts';
import type { WaitAccessParts } from '../http/admission/watch-access.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import { computeCallFingerprint } from './call-fingerprint.ts';
import { readCall } from '../relay/routes/read-call.ts';
import { takeWebhookUrl } from './take-webhook-url.ts';
import type { MatchedEndpoint } from '../relay/routes/read-call.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import { readIdempotencyKey, readPreferredWait, setPollHints } from '../http/headers.ts';
import { objectSchema } from '../domain/schema.ts';
import type { TypeOf } from '../domain/schema.ts';
import { jsonRoute, matchPath, withoutLastSlash } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

const PREFIX = '/async';
const JOB_ID = /^job_\w{1,60}$/;
const CALL_BODY = {
  title: 'AsyncCallBody',
  type: 'object',
  properties: { webhook_url: { anyOf: [documentedWebhookUrl, { type: 'null' }] } },
};
const CREATED = {
  title: 'AsyncCall',
  ...objectSchema({ id: { type: 'string' }, status: { const: 'queued' } }),
} as const;

/** The parts that the generic asynchronous route needs. */
export interface AsyncRouteParts extends BodyBounds, WaitAccessParts, CreateJobDeps, AwaitJobDeps {
  readonly media: PrivateStore & ByteReader;
  readonly waits: WaitPermits;
}

/** The generic asynchronous route: it queues a call to a synchronous route and reads its result. */
export function asyncRoutes(parts: AsyncRouteParts): RouteEntry[] {
  return [
    jsonRoute({
      kind: 'create',
      methods: ['POST'],
      path: `${PREFIX}/{+path}`,
      token: { counts: 'calls' },
      // It makes a job, as a create makes a task.
      traced: 'create',
      answer: CREATED,
      respond: (exchange) => queueCall(parts, exchange),
      doc: {
        tag: 'Generic async',
        operationId: 'createAsync',
        summary: 'Queue a call of a synchronous route',
        headers: ['Idempotency-Key', 'Reelgate-Label'],
        description:
          'The path after `/async` is the path of a synchronous route, and the body is the body of that route. ' +
          'A streaming call is refused. `webhook_url` in the body is told when the call ends; the route does not get it.',
        parameters: [
          {
            name: 'webhook_url',
            description: 'As the member of the body, for a body that is a form.',
            schema: documentedWebhookUrl,
          },
        ],
        handsOnQuery: true,
        json: CALL_BODY,
        status: 202,
        answerHeaders: ['idempotent-replayed', 'openai-poll-after-ms', 'retry-after'],
        refuses: [404, 409, 422],
      },
    }),
    {
      kind: 'read',
      methods: ['GET'],
      path: '/get-async',
      token: { counts: 'reads' },
      handle: (exchange) => showJob(parts, exchange),
      doc: {
        tag: 'Generic async',
        operationId: 'getAsync',
        summary: 'Read a queued call',
        headers: ['Prefer'],
        parameters: [
          { name: 'id', required: true, description: 'The id of the call.', schema: { type: 'string', minLength: 1 } },
        ],
        refuses: [400, 404, 410],
        answerHeaders: ['openai-poll-after-ms', 'retry-after', 'preference-applied'],
        description: 'A failed call is read with 200 too; `status_code` is its own status.',
        answers: { 'application/json': RESULT_ANSWER.schema },
      },
    },
  ];
}

async function queueCall(parts: AsyncRouteParts, exchange: Exchange): Promise<TypeOf<typeof CREATED>> {
  const key = readIdempotencyKey(exchange.req.headers['idempotency-key']);
  const sent = await readCall(parts, exchange, matchEndpoint(exchange.path.slice(PREFIX.length)));
  const { call, webhookUrl } = takeWebhookUrl(sent);
  exchange.state.model = call.model;
  if (call.endpoint.protocol.isStream(call.content)) throw streamRefusal(call.endpoint.model === 'path');
  const idempotency = key === undefined ? undefined : { key, fingerprint: await computeCallFingerprint(PREFIX, sent) };
  exchange.state.submitted = true;
  const { id, replayed } = await createJob(parts, { call, webhookUrl, idempotency });
  exchange.state.taskId = id;
  if (replayed) exchange.set('idempotent-replayed', 'true');
  setPollHints(exchange.res, { pollAfterMs: 0n });
  return { id, status: 'queued' };
}

function matchEndpoint(written: string): MatchedEndpoint {
  const path = withoutLastSlash(written);
  for (const endpoint of relayEndpoints.filter(({ method }) => method === 'POST')) {
    const params = matchPath(endpoint.path, path);
    if (params !== undefined) return { endpoint, params: decodeParams(params) };
  }
  throw refuse('not_found', { message: 'the path after /async is not a synchronous route' });
}

function decodeParams(params: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  try {
    return Object.fromEntries(Object.entries(params).map(([name, value]) => [name, decodeURIComponent(value)]));
  } catch {
    return params;
  }
}

function streamRefusal(byPath: boolean): Problem {
  return refuse('invalid_request', {
    field: byPath ? undefined : 'stream',
    message: byPath
      ? 'an asynchronous call cannot be a stream; call :generateContent instead'
      : 'must be false or absent; an asynchronous call cannot be a stream',
  });
}

async function showJob(parts: AsyncRouteParts, exchange: Exchange): Promise<void> {
  const id = new URLSearchParams(exchange.querystring).get('id') ?? '';
  if (id === '') throw refuse('invalid_request', { field: 'id', message: 'is required, as in /get-async?id=job_…' });
  if (!JOB_ID.test(id)) throw refuse('task_not_found', { message: 'no such asynchronous call' });
  exchange.state.taskId = id;
  const job = await readOrWait(parts, exchange, id);
  if (isOpen(job)) setPollHints(exchange.res, { pollAfterMs: 0n });
  closeWithoutAccess(parts, exchange);
  const body = await resultEnvelope(parts.media, job);
  if (body === undefined) throw refuse('result_expired', { message: 'the result of this call has expired' });
  exchange.status = 200;
  exchange.type = 'application/json; charset=utf-8';
  exchange.body = body;
}

async function readOrWait(parts: AsyncRouteParts, exchange: Exchange, jobId: string): Promise<Job> {
  const { accountId } = requirePrincipal(exchange);
  const { requestId, span } = exchange.state;
  const seconds = readPreferredWait(exchange.req.headers['prefer']);
  if (seconds === undefined || !parts.waits.tryAcquire()) return parts.jobs.get(accountId, jobId, requestId, span);
  try {
    exchange.set('preference-applied', `wait=${seconds}`);
    return await waitWithAccess(parts, exchange, (gone) =>
      awaitJob(parts, { accountId, jobId, ms: seconds * 1000, requestId, span, gone }),
    );
  } finally {
    parts.waits.release();
  }
}
