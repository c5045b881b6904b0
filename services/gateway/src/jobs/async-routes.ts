import type { Problem } from '@reelgate/platform/problem';
import { documentedWebhookUrl } from '../dialects/wire/flat-fields.ts';
import { createJob } from './create-job.ts';
import type { CreateJobDeps } from './create-job.ts';
import type { ByteReader, PrivateStore } from '../clients/media-port.ts';
import type { WaitPermits } from '../operations/await-change.ts';
import { RESULT_ANSWER, resultEnvelope } from './result-envelope.ts';
import { isFinal, readJob } from '../clients/tasks-client.ts';
import type { Job } from '../clients/tasks-client.ts';
import { awaitJob } from '../operations/await-job.ts';
import type { AwaitJobDeps } from '../operations/await-job.ts';
import { relayEndpoints } from '../relay/endpoints.ts';
import { closeWithoutAccess, waitWithAccess } from '../http/admission/watch-access.ts';
import type { WaitAccessParts } from '../http/admission/watch-access.ts';
import type { Exchange } from '../http/http-exchange.ts';
import { requirePrincipal } from '../http/http-exchange.ts';
import { readCall } from '../relay/routes/read-call.ts';
import type { MatchedEndpoint } from '../relay/routes/read-call.ts';
import type { BodyBounds } from '../http/bodies/read-body.ts';
import { computeFingerprint } from '../http/bodies/fingerprint.ts';
import { withoutMember } from '../json-bytes/json-members.ts';
import type { RelayCall } from '../relay/requests/relay-call.ts';
import { readIdempotencyKey, readPreferredWait, setPollHints } from '../http/headers.ts';
import { objectSchema } from '../domain/schema.ts';
import type { TypeOf } from '../domain/schema.ts';
import { jsonRoute, matchPath, withoutLastSlash } from '../http/routes/route.ts';
import type { RouteEntry } from '../http/routes/route.ts';
import { refuse } from '../refusals.ts';

const PREFIX = '/async';
const WEBHOOK_URL = 'webhook_url';
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
  const idempotency =
    key === undefined ? undefined : { idempotencyKey: key, requestFingerprint: await computeCallFingerprint(sent) };
  exchange.state.submitted = true;
  const { id, replayed } = await createJob(parts, { call, webhookUrl, idempotency });
  exchange.state.taskId = id;
  if (replayed) exchange.set('idempotent-replayed', 'true');
  setPollHints(exchange.res, { pollAfterMs: 0n });
  return { id, status: 'queued' };
}

/** Computes the fingerprint of a call as the client sent it, with `webhook_url`. */
function computeCallFingerprint({
  endpoint,
  path,
  search,
  body,
  parts = [],
  content: { json },
}: RelayCall): Promise<string> {
  const fields = parts
    .filter(({ isFile }) => !isFile)
    .map(({ name, start, end }) => [name, body.toString('utf8', start, end)] as const);
  const files = parts
    .filter(({ isFile }) => isFile)
    .map(({ name, start, end }) => ({ name, mediaType: '', chunks: [body.subarray(start, end)] }));
  return computeFingerprint({
    method: endpoint.method,
    path: `${PREFIX}${path}${search}`,
    body: json === undefined ? { form: { fields, files } } : { json },
  });
}

/** A call without the URL that is told when it ends, and that URL. No upstream gets it. */
interface CallWithWebhook {
  readonly call: RelayCall;
  readonly webhookUrl: string | undefined;
}

/** Takes `webhook_url` out of a JSON body or out of the query. Refuses a call that has it in both. */
function takeWebhookUrl(call: RelayCall): CallWithWebhook {
  const [inBody, inQuery] = [takeFromBody(call), takeFromQuery(call.search)];
  const given = [...inBody.values, ...inQuery.values];
  if (given.length > 1) throw invalidWebhookUrl('must be given only once, in the body or in the query');
  const [webhookUrl] = given;
  if (webhookUrl !== undefined && (typeof webhookUrl !== 'string' || webhookUrl === ''))
    throw invalidWebhookUrl('must be an HTTPS URL');
  return { call: { ...inBody.call, search: inQuery.search }, webhookUrl };
}

interface WebhookUrls {
  /** At most one, but a query can repeat a name. */
  readonly values: readonly unknown[];
}

function takeFromBody(call: RelayCall): WebhookUrls & { readonly call: RelayCall } {
  const { json } = call.content;
  if (json === undefined || !Object.hasOwn(json, WEBHOOK_URL)) return { call, values: [] };
  const { [WEBHOOK_URL]: value, ...rest } = json;
  const body = withoutMember(call.body, WEBHOOK_URL);
  return {
    call: { ...call, body, content: { ...call.content, json: rest, bodyBytes: body.length } },
    values: value === null ? [] : [value],
  };
}

/** The other parameters stay as the client wrote them. */
function takeFromQuery(search: string): WebhookUrls & { readonly search: string } {
  if (search === '') return { search, values: [] };
  const pairs = search.slice(1).split('&');
  const kept = pairs.filter((pair) => !new URLSearchParams(pair).has(WEBHOOK_URL));
  if (kept.length === pairs.length) return { search, values: [] };
  return {
    search: kept.length === 0 ? '' : `?${kept.join('&')}`,
    values: new URLSearchParams(search).getAll(WEBHOOK_URL),
  };
}

function invalidWebhookUrl(message: string): Problem {
  return refuse('invalid_webhook_url', { field: WEBHOOK_URL, message });
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
  if (!isFinal(job)) setPollHints(exchange.res, { pollAfterMs: 0n });
  closeWithoutAccess(parts, exchange);
  const body = await resultEnvelope(parts.media, job);
  if (body === undefined) throw refuse('result_expired', { message: 'the result of this call has expired' });
  exchange.status = 200;
  exchange.type = 'application/json; charset=utf-8';
  exchange.body = body;
}

async function readOrWait(parts: AsyncRouteParts, exchange: Exchange, jobId: string): Promise<Job> {
  const { requestId, span } = exchange.state;
  const read = { accountId: requirePrincipal(exchange).accountId, jobId, requestId, span };
  const seconds = readPreferredWait(exchange.req.headers['prefer']);
  if (seconds === undefined || !parts.waits.tryAcquire()) return readJob(parts.jobs, read);
  try {
    exchange.set('preference-applied', `wait=${seconds}`);
    return await waitWithAccess(parts, exchange, (gone) => awaitJob(parts, { ...read, ms: seconds * 1000, gone }));
  } finally {
    parts.waits.release();
  }
}
