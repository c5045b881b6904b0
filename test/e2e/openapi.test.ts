import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import fc from 'fast-check';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import { call } from '../../services/gateway/testing/http-call.ts';
import type { Answer } from '../../services/gateway/testing/http-call.ts';
import { valuesOf, wrongValuesOf } from '../../services/gateway/testing/openapi/arbitraries.ts';
import { departures } from '../../services/gateway/testing/openapi/conformance.ts';
import { readDocument } from '../../services/gateway/testing/openapi/document.ts';
import type { ApiDocument, Operation, Parameter } from '../../services/gateway/testing/openapi/document.ts';
import { httpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { KEYS, UPSTREAM_KEY } from '../harness/test-config.ts';

const VIDEO = readFileSync(path.join(import.meta.dirname, '../../services/media/testing/fixtures/768p.mp4'));
const TIMEOUT_MS = 120_000;
const SEED = 20_261_122;
/** Requests by the schema and against it, of each operation. */
const RUNS = 25;
const BOUNDARY = 'boundary-of-the-test';
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];
const RELAYED = 'sandbox-chat';

/**
 * The reasons why a request that fits the document can be refused: rules that a schema cannot express. The ranges of a
 * model and the combination of fields are checked with the whole order, media after their fetch, a source after its
 * look-up.
 */
const BEYOND_SCHEMAS: ReadonlySet<string> = new Set([
  'invalid_duration',
  'invalid_resolution',
  'invalid_ratio',
  'invalid_content',
  'invalid_media',
  'invalid_size',
  'idempotency_key_reused',
  'source_task_not_ready',
  'source_task_unsupported',
  'content_rejected',
  'price_above_max',
  'invalid_webhook_url',
  'webhook_endpoint_limit',
  'webhook_not_reached',
  'file_limit',
]);
/** The same reasons as messages of the vendor's envelope, which has no codes. */
const BEYOND_SCHEMAS_IN_WORDS =
  /^(duration|resolution|ratio|content|source_task_id|currency)\b|generator refused|with another request/;
/** The messages of single routes, by operation. */
const OWN_REASONS: Readonly<Record<string, RegExp>> = {
  getUsage: /must be later than|at most \d+ days|group_by must be day/,
  listChargedItems: /must be later than|at most \d+ days|continue_after/,
  listVideos: /^after must be the id of a task/,
  relay_v1_realtime: /requires a WebSocket/,
  listWebhookEndpoints: /^after must be the id of/,
  listWebhookDeliveries: /^after must be the id of/,
  estimateVideo: /./,
  createAsync: /^model is required|stream/,
  // The content of a form is JSON in a text.
  createVideo: /JSON array|^input_reference/,
  // no generator of the test takes them
  createOpenRouterVideo: /^(seed|generate_audio) is an unknown field/,
};

let sandbox: Sandbox;
let program: Program;
let document: ApiDocument;
/** Existing values, by the parameter that takes them. */
let known: Readonly<Record<string, readonly string[]>>;

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => VIDEO });
  const host = new URL(sandbox.url).host;
  program = await newProgram('one program', { upstream: host }, (config) => ({
    ...config,
    gateway: {
      ...config.gateway,
      batches: true,
      limits: { ...config.gateway.limits, calls_per_minute: 100_000 } as never,
    },
    channels: [
      ...config.channels,
      {
        id: 'text',
        adapter: 'relay',
        base_url: `http://${host}`,
        api_key: UPSTREAM_KEY,
        endpoints: ['chat'],
        models: { [RELAYED]: 'echo-1' },
      },
    ] as never,
    prices: {
      ...config.prices,
      [RELAYED]: { per_million_tokens: { input: '0.50', output: '1.50' }, hold: '0.05' },
    } as never,
    accounts: config.accounts.map((account) => ({ ...account, credit: '1000000' })),
    webhooks: { allow: [host] },
  }));
  await program.start();
  document = readDocument(await (await fetch(`${program.base}/openapi.json`)).json());
  known = await makeThings();
}, TIMEOUT_MS);

afterAll(async () => {
  await program?.end();
  await sandbox?.stop();
}, TIMEOUT_MS);

async function makeThings(): Promise<typeof known> {
  const demo = httpCaller(program.base, KEYS.demo);
  const words = [{ type: 'text', text: 'a red boat' }];
  const [done, failed, open, prompt] = [
    await demo.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a red boat', seconds: '4' }),
    await demo.create('/v1/videos', { model: 'Alpha-H3', prompt: '[fail] a red boat' }),
    await demo.create('/v1/videos', { model: 'Alpha-H3', prompt: '[never] a red boat' }),
    await demo.create('/v2/h3_context_ir', { model: 'Alpha-H3', content: words, duration: 5, ratio: '16:9' }),
  ];
  const job = await demo.call('POST', '/async/v1/chat/completions', {
    model: RELAYED,
    messages: [{ role: 'user', content: 'hello' }],
  });
  const endpoint = await demo.call('POST', '/v1/webhook_endpoints', {
    name: 'sandbox',
    url: `${sandbox.url}/webhooks`,
    event_types: ['video.completed'],
  });
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new File(['{}'], 'orders.jsonl'));
  const file = await (
    await fetch(`${program.base}/v1/files`, {
      method: 'POST',
      headers: { authorization: `Bearer ${KEYS.demo}` },
      body: form,
    })
  ).json();
  const finished = await demo.finish(done);
  await demo.finish(failed, 'failed');
  await demo.finish(prompt);
  const link = new URL((finished.json as { video_url: string }).video_url);
  return {
    task_id: [done, failed, open, prompt],
    video_id: [done, open],
    model: ['Alpha-H3', RELAYED],
    id: [(job.json as { id: string }).id],
    link: [link.pathname.slice('/ximg/'.length) + link.search, link.pathname.slice('/ximg/'.length)],
    path: ['v1/chat/completions', 'v1/videos'],
    rest: ['ft-1'],
    file_id: [(file as { id: string }).id],
    webhook_endpoint_id: [(endpoint.json as { id: string }).id, 'default'],
  };
}

interface Asked {
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string;
}

const isPresent = (value: unknown): boolean => value !== undefined;

/** The value of a parameter: often an existing one. */
function valueOf(parameter: Parameter): fc.Arbitrary<unknown> {
  const there = parameter.in === 'path' || parameter.name === 'id' ? (known[parameter.name] ?? []) : [];
  const any = valuesOf(document, parameter.schema);
  const value =
    there.length === 0
      ? any
      : fc.oneof({ arbitrary: fc.constantFrom(...there), weight: 3 }, { arbitrary: any, weight: 1 });
  return parameter.required === true ? value : fc.option(value, { nil: undefined });
}

/** A request that fits the document, or breaks it in one place. */
function requestOf(
  operation: Operation,
  body: fc.Arbitrary<unknown>,
  type: string | undefined,
  spoil?: Parameter,
): fc.Arbitrary<Asked> {
  const named = operation.parameters.filter(({ name }) => name !== 'Idempotency-Key' && name !== 'Prefer');
  const values = fc.record(
    Object.fromEntries(
      named.map((parameter) => [
        parameter.name,
        parameter === spoil
          ? wrongValuesOf(document, parameter.schema).map((value) => (typeof value === 'object' ? 'junk' : value))
          : valueOf(parameter),
      ]),
    ),
  );
  return fc.tuple(values, body).map(([given, content]) => asked(operation, given, content, type));
}

function asked(
  operation: Operation,
  given: Readonly<Record<string, unknown>>,
  content: unknown,
  type: string | undefined,
): Asked {
  const inPlace = (place: Parameter['in']): Parameter[] =>
    operation.parameters.filter((parameter) => parameter.in === place && isPresent(given[parameter.name]));
  const filled = operation.path.replace(/\{(\w+)\}/g, (_whole, name: string) => pathPart(name, String(given[name])));
  const query = new URLSearchParams(
    inPlace('query').flatMap(({ name }) =>
      [given[name]].flat().map((value): [string, string] => [name, String(value)]),
    ),
  ).toString();
  const headers = Object.fromEntries(
    inPlace('header')
      .map(({ name }) => [
        name,
        String(given[name])
          .replace(/[^\x20-\x7e]/g, '')
          .trim(),
      ])
      .filter(([, value]) => value !== ''),
  );
  return {
    target: query === '' ? filled : `${filled}${filled.includes('?') ? '&' : '?'}${query}`,
    headers:
      type === undefined
        ? headers
        : { ...headers, 'content-type': type === 'multipart/form-data' ? `${type}; boundary=${BOUNDARY}` : type },
    ...(type === undefined ? {} : { body: type === 'multipart/form-data' ? formOf(content) : JSON.stringify(content) }),
  };
}

/** An existing value is not encoded. Dots alone are encoded, because they would make another path. */
function pathPart(name: string, value: string): string {
  return known[name]?.includes(value) === true ? value : encodeURIComponent(value.replace(/^\.+$/, 'dots'));
}

function formOf(fields: unknown): string {
  const parts = Object.entries(fields as object)
    .filter(([, value]) => isPresent(value))
    .map(
      ([name, value]) =>
        `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n` +
        `${typeof value === 'object' ? JSON.stringify(value) : String(value)}\r\n`,
    );
  return `${parts.join('')}--${BOUNDARY}--\r\n`;
}

function send(method: string, { target, headers, body }: Asked, token: string | null = KEYS.demo): Promise<Answer> {
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return call(program.base, method, target, {
    token,
    headers: { ...headers, ...length },
    ...(body === undefined ? {} : { body }),
  });
}

/** Each run is one request. The same seed sends the same requests. */
async function holds(
  requests: fc.Arbitrary<Asked>,
  check: (asked: Asked) => Promise<void>,
  numRuns = RUNS,
): Promise<void> {
  await fc.assert(fc.asyncProperty(requests, check), { seed: SEED, numRuns, endOnFailure: true });
}

function expectNamed(operation: Operation, answer: Answer, request: Asked): void {
  expect({ faults: departures(document, operation, answer), request }).toEqual({ faults: [], request });
}

function expectAccepted({ operationId }: Operation, { status, text, json }: Answer, request: Asked): void {
  if (![400, 413, 415, 422, 426].includes(status)) return;
  const { code = '', message = '' } = readRefusal(json);
  const explained =
    BEYOND_SCHEMAS.has(code) ||
    BEYOND_SCHEMAS_IN_WORDS.test(message) ||
    OWN_REASONS[operationId]?.test(message) === true;
  expect({ explained, text, request }).toEqual({ explained: true, text, request });
}

interface Refusal {
  readonly code?: string;
  readonly message?: string;
  readonly metadata?: { readonly reason?: string };
}

/** Code and message stand in the first member that is an object, whatever its envelope calls it. */
function readRefusal(json: unknown): Refusal {
  const isObject = (member: unknown): member is object => typeof member === 'object' && member !== null;
  const refusal: Refusal = Object.values(json ?? {}).find(isObject) ?? {};
  // a status is no code of a reason
  return { ...refusal, code: refusal.metadata?.reason ?? refusal.code ?? '' };
}

/** The schema forbids two names of one field. The routes accept both if their values are equal. */
function saysTwice({ body = '' }: Asked): boolean {
  const { seconds, duration, size, width, height } = (JSON.parse(body) ?? {}) as Readonly<Record<string, unknown>>;
  return (
    (isPresent(seconds) && Number(seconds) === Number(duration)) ||
    (isPresent(size) && size === `${String(width)}x${String(height)}`)
  );
}

const bodiesOf = (operation: Operation): readonly (readonly [string | undefined, object])[] =>
  operation.requestBody === undefined
    ? [[undefined, {}]]
    : Object.entries(operation.requestBody.content).map(([type, { schema }]) => [type, schema] as const);

/** A stream of events does not end. */
const each = (): Operation[] => document.operations.filter(({ operationId }) => operationId !== 'streamEvents');

describe('what the document says of every operation holds', () => {
  test(
    'a key, a wait and a range of a request are answered as documented',
    async () => {
      const [done = '', , open = ''] = known['task_id'] ?? [];
      const operationOf = (operationId: string): Operation =>
        document.operations.find((operation) => operation.operationId === operationId)!;
      const order = JSON.stringify({ model: 'Alpha-H3', prompt: 'a red boat' });
      const create = {
        target: '/v1/videos',
        headers: { 'content-type': 'application/json', 'idempotency-key': 'a-key-of-the-test' },
        body: order,
      };
      const content = { target: `/v1/videos/${done}/content`, headers: {} };
      const rows: [string, number, Asked][] = [
        ['createVideo', 200, create],
        ['createVideo', 200, create],
        ['createVideo', 422, { ...create, body: JSON.stringify({ model: 'Alpha-H3', prompt: 'a blue boat' }) }],
        ['createVideo', 400, { ...create, headers: { ...create.headers, 'idempotency-key': 'ä b' } }],
        ['getVideo', 200, { target: `/v1/videos/${open}`, headers: { prefer: 'wait=1' } }],
        ['getVideoContent', 200, content],
        ['getVideoContent', 206, { ...content, headers: { range: 'bytes=0-9' } }],
        ['getVideoContent', 416, { ...content, headers: { range: 'bytes=999999999-' } }],
        ['getVideoContent', 409, { ...content, target: `/v1/videos/${open}/content` }],
        ['getVideoContent', 400, { ...content, target: `${content.target}?variant=none` }],
        ['deleteVideo', 409, { target: `/v1/videos/${open}`, headers: {} }],
        ['cancelVideoTask', 409, { target: `/v2/video_generation/${done}`, headers: {} }],
        ['getLinkedVideo', 200, { target: `/ximg/${known['link']![0]!}`, headers: {} }],
        ['getLinkedVideo', 206, { target: `/ximg/${known['link']![0]!}`, headers: { range: 'bytes=0-9' } }],
        ['getLinkedVideo', 403, { target: `/ximg/${known['link']![1]!}`, headers: {} }],
        ['getAsync', 400, { target: '/get-async', headers: {} }],
        ['getAsync', 404, { target: '/get-async?id=job_none', headers: {} }],
        ['listVideos', 400, { target: '/v1/videos?limit=0', headers: {} }],
        ['queryVideoTasks', 400, { target: '/v2/query/video_generation?page_num=x', headers: {} }],
        ['getUsage', 400, { target: '/v1/usage?from=x', headers: {} }],
        ['listChargedItems', 400, { target: '/v1/usage/items?limit=0', headers: {} }],
        ['listModels', 200, { target: '/v1/models', headers: { 'anthropic-version': '2023-06-01' } }],
        ['listModels', 200, { target: '/v1/models', headers: { 'x-goog-api-key': 'none' } }],
        ['getModel', 404, { target: '/v1/models/none', headers: { 'x-goog-api-key': 'none' } }],
        ['listVideoModels', 200, { target: '/v1/videos/models', headers: {} }],
        ['listOpenRouterVideoModels', 200, { target: '/api/v1/videos/models', headers: {} }],
        ['listOpenRouterModels', 200, { target: '/api/v1/models', headers: {} }],
        [
          'createOpenRouterVideo',
          202,
          { ...create, target: '/api/v1/videos', headers: { 'content-type': 'application/json' } },
        ],
        ['getOpenRouterVideo', 200, { target: `/api/v1/videos/${done}`, headers: {} }],
        ['getOpenRouterVideo', 404, { target: '/api/v1/videos/none', headers: {} }],
        ['getOpenRouterVideoContent', 200, { ...content, target: `/api${content.target}` }],
        ['getOpenRouterVideoContent', 409, { ...content, target: `/api/v1/videos/${open}/content` }],
        ['getVideoModel', 200, { target: '/v1/videos/models/Alpha-H3', headers: {} }],
        ['getVideoModel', 404, { target: '/v1/videos/models/none', headers: {} }],
        ['streamEvents', 400, { target: '/v1/events?types=none', headers: {} }],
        ['streamEvents', 400, { target: '/v1/events', headers: { 'last-event-id': 'a b' } }],
        ['streamEvents', 410, { target: '/v1/events', headers: { 'last-event-id': 'evt_none' } }],
        ['relay_v1_realtime', 426, { target: '/v1/realtime', headers: {} }],
      ];
      for (const [operationId, status, request] of rows) {
        const operation = operationOf(operationId);
        const answer = await send(operation.method, request);
        expect([operationId, request.target, answer.status]).toEqual([operationId, request.target, status]);
        expectNamed(operation, answer, request);
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a request that fits its schema is answered as documented, and not refused for its shape',
    async () => {
      for (const operation of each()) {
        for (const [type, schema] of bodiesOf(operation)) {
          const body = type === undefined ? fc.constant(undefined) : valuesOf(document, schema as never);
          await holds(requestOf(operation, body, type), async (request) => {
            const answer = await send(operation.method, request);
            expectNamed(operation, answer, request);
            expectAccepted(operation, answer, request);
          });
        }
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a body that breaks its schema is refused as documented',
    async () => {
      for (const operation of each()) {
        const { schema } = operation.requestBody?.content['application/json'] ?? {};
        if (schema === undefined) continue;
        await holds(requestOf(operation, wrongValuesOf(document, schema), 'application/json'), async (request) => {
          const answer = await send(operation.method, request);
          expectNamed(operation, answer, request);
          expect({ refused: answer.status >= 400 || saysTwice(request), request }).toEqual({ refused: true, request });
        });
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a parameter that breaks its schema is refused as documented',
    async () => {
      for (const operation of each()) {
        const [[type, schema] = [undefined, {}]] = bodiesOf(operation);
        for (const parameter of operation.parameters.filter(
          (one) =>
            one.in === 'query' &&
            Object.keys(one.schema).some((key) => ['minimum', 'enum', 'minLength', 'anyOf'].includes(key)),
        )) {
          const body = type === undefined ? fc.constant(undefined) : valuesOf(document, schema as never);
          await holds(
            requestOf(operation, body, type, parameter),
            async (request) => {
              // An empty value counts as absent.
              if (new URLSearchParams(request.target.split('?')[1]).get(parameter.name)?.trim() === '') return;
              const answer = await send(operation.method, request);
              expectNamed(operation, answer, request);
              expect({ refused: answer.status >= 400, request }).toEqual({ refused: true, request });
            },
            10,
          );
        }
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a request without a token, with an unknown token, of another type or without JSON is refused as documented',
    async () => {
      for (const operation of each()) {
        const [[type] = [undefined]] = bodiesOf(operation);
        const [request] = fc.sample(requestOf(operation, fc.constant({}), type), { seed: SEED, numRuns: 1 }) as [Asked];
        const refusals: [number, Promise<Answer>][] = [];
        if (operation.security.length > 0)
          refusals.push(
            [401, send(operation.method, request, null)],
            [401, send(operation.method, request, 'sk-nobody-0123456789')],
          );
        if (type !== undefined) {
          refusals.push(
            [415, send(operation.method, { ...request, headers: { 'content-type': 'text/plain' }, body: 'x' })],
            [
              type === 'application/json' ? 400 : 415,
              send(operation.method, { ...request, headers: { 'content-type': 'application/json' }, body: '{' }),
            ],
          );
        }
        for (const [status, promised] of refusals) {
          const answer = await promised;
          expectNamed(operation, answer, request);
          // Behind /async the route may not exist.
          expect([operation.name, answer.status === 404 ? status : answer.status]).toEqual([operation.name, status]);
        }
      }
    },
    TIMEOUT_MS,
  );

  test(
    'a method that a path does not have is 405, and Allow names the methods that it has',
    async () => {
      for (const [, operations] of Map.groupBy(each(), (operation) => operation.path)) {
        const [request] = fc.sample(requestOf(operations[0]!, fc.constant({}), undefined), {
          seed: SEED,
          numRuns: 1,
        }) as [Asked];
        const named = operations.map(({ method }) => method);
        for (const method of METHODS.filter((name) => !named.includes(name))) {
          const { status, headers } = await send(method, request);
          expect([
            method,
            request.target,
            status,
            headers.allow?.split(', ').filter((name) => name !== 'HEAD'),
          ]).toEqual([method, request.target, 405, named.toSorted()]);
        }
      }
    },
    TIMEOUT_MS,
  );
});
