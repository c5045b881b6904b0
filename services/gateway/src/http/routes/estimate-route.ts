import { TASK_KIND_NAMES, dropUndefined, ignoredSchema } from '../../dialects/wire/task-fields.ts';
import type { CreateRoute } from '../../dialects/dialect.ts';
import { inClientTerms, toPendingOrder } from '../../operations/submit-order.ts';
import { formatDecimal } from '../../domain/decimal.ts';
import { invalid } from '../../dialects/wire/body-validator.ts';
import type { Exchange } from '../http-exchange.ts';
import { requirePrincipal } from '../http-exchange.ts';
import type { TasksClient } from '../../clients/tasks-client.ts';
import type { Catalogue } from '../../domain/model-defaults.ts';
import { toWirePreference } from '../../clients/tasks-client.ts';
import { readWaitPreference } from '../headers.ts';
import { readExchangeBody } from '../bodies/read-body.ts';
import type { BodyBounds } from '../bodies/read-body.ts';
import { jsonRoute } from './route.ts';
import type { RouteEntry } from './route.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { Draft, TypeOf } from '../../domain/schema.ts';

const DEADLINE_MS = 15_000;
const DEFAULT_PATH = '/v1/videos';

const estimateSchema = {
  title: 'Estimate',
  ...objectSchema(
    {
      model: { type: 'string' },
      operation: { enum: ['generation', 'regeneration', 'context_ir'] },
      amount: { type: 'string', description: 'A decimal number.' },
      max_amount: { type: 'string', description: 'The least max_amount that the create is accepted with.' },
      currency: { type: 'string' },
      contract: { type: 'string' },
      version: { type: 'integer' },
      facts: { type: 'object', additionalProperties: { type: 'integer' } },
      ignored: ignoredSchema,
    },
    ['max_amount', 'ignored'],
  ),
} as const;

type Estimate = TypeOf<typeof estimateSchema>;

/** The parts that the estimate of an order needs. */
export interface EstimateRouteParts extends BodyBounds {
  readonly tasks: TasksClient;
  readonly catalogue: () => Catalogue;
}

/** Estimates the price of a create. It decodes the body exactly as the create would. */
export function estimateRoute(creates: readonly CreateRoute[], parts: EstimateRouteParts): RouteEntry {
  const byPath = new Map(creates.filter(({ path }) => !path.includes('{')).map((route) => [route.path, route]));
  const form = byPath.get(DEFAULT_PATH)?.form;
  return jsonRoute({
    kind: 'read',
    methods: ['POST'],
    path: '/v1/videos/estimate',
    token: { counts: 'reads' },
    answer: estimateSchema,
    respond: (exchange) => estimate(byPath, parts, exchange),
    doc: {
      tag: 'Videos (compatibility)',
      operationId: 'estimateVideo',
      summary: 'Estimate what a create would cost, without creating anything',
      headers: ['Prefer'],
      parameters: [
        {
          name: 'path',
          description: 'The path of the create that the body is for.',
          schema: { enum: [...byPath.keys()], default: DEFAULT_PATH },
        },
      ],
      json: {
        title: 'AnyCreate',
        description: 'The body of the create at `path`.',
        anyOf: [...byPath.values()].map(({ body }) => body),
      },
      ...(form === undefined ? {} : { form }),
      refuses: [404],
    },
  });
}

async function estimate(
  byPath: ReadonlyMap<string, CreateRoute>,
  parts: EstimateRouteParts,
  exchange: Exchange,
): Promise<Estimate> {
  const path = new URLSearchParams(exchange.querystring).get('path') ?? DEFAULT_PATH;
  const route = byPath.get(path);
  if (route === undefined) throw invalid('path', `must be one of ${[...byPath.keys()].join(', ')}`);
  const decoded = route.decode(await readExchangeBody(exchange, parts, route.form !== undefined), {
    models: parts.catalogue().models,
    params: {},
  });
  const { accountId, tokenId } = requirePrincipal(exchange);
  const wait = readWaitPreference(exchange.req.headers['prefer']);
  const { amountNanos, currency, contract, version, facts, maxAmountNanos, ignoredFields } = await inClientTerms(
    decoded,
    parts.tasks.estimateOrder(
      { accountId, tokenId, order: toPendingOrder(decoded), ...(wait && { queue: toWirePreference(wait) }) },
      { timeoutMs: DEADLINE_MS, requestId: exchange.state.requestId, span: exchange.state.span },
    ),
  );
  return dropUndefined({
    model: decoded.order.model,
    operation: TASK_KIND_NAMES[decoded.order.kind],
    amount: formatDecimal(amountNanos),
    max_amount: maxAmountNanos === undefined ? undefined : formatDecimal(maxAmountNanos),
    currency,
    contract,
    version,
    facts: Object.fromEntries(Object.entries(facts).map(([name, value]) => [name, Number(value)])),
    ignored: ignoredFields.length === 0 ? undefined : ignoredFields,
  } satisfies Draft<Estimate>);
}
