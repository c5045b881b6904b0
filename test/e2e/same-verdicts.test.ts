import type { MessageInitShape } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { Problem } from '@reelgate/platform/problem';
import { connectGrpc } from '@reelgate/platform/rpc/grpc/client';
import type { GrpcConnection } from '@reelgate/platform/rpc/grpc/client';
import { Secret } from '@reelgate/platform/secret';
import type { OrderSchema } from '@reelgate/proto/tasks/v1/order';
import { TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { startSandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { Sandbox } from '../../deploy/local/sandbox/sandbox.ts';
import type { DecodedOrder } from '../../services/gateway/src/dialects/dialect.ts';
import { dialects } from '../../services/gateway/src/dialects/index.ts';
import { chooseDefaults } from '../../services/gateway/src/domain/model-defaults.ts';
import type { Models } from '../../services/gateway/src/domain/model-defaults.ts';
import { findErrorRow } from '../../services/gateway/src/problems/error-table.ts';
import { filled } from '../contract/engine/filled.ts';
import type { Request, Row } from '../contract/engine/row.ts';
import { ROWS } from '../contract/rows/index.ts';
import { httpCaller } from '../harness/client.ts';
import type { Answer, HttpCaller } from '../harness/client.ts';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { listTokens } from '../harness/records.ts';
import { KEYS, UPSTREAM_KEY, callerKey } from '../harness/test-config.ts';
import { plainOrder } from './plain-order.ts';

const START_TIMEOUT_MS = 120_000;
const AT_ONCE = 8;
/** Fewer mean that the tables of the contract are no longer found. */
const ORDERS_MIN = 150;
/** No server listens there, and no media may be fetched from it: every medium is refused. */
const MEDIA = 'http://127.0.0.1:1';

type OrderInit = MessageInitShape<typeof OrderSchema>;

/** Both verdicts on an order. */
interface Verdicts {
  readonly answer: Answer;
  /** The refusal over gRPC, with the names of the client's fields; undefined: it is accepted. */
  readonly refusal: Problem | undefined;
  /** Set if the dialect itself refuses the body, before there is an order. */
  readonly ofDialect: Problem | undefined;
}

interface Case {
  readonly title: string;
  readonly path: string;
  readonly body: object;
}

/** Words in a prompt that steer the sandbox: the verdict is not on the order. */
const STEERED = /\[[a-z0-9:-]+\]/;
/** The fields of the flat bodies, and the fields of an order that they become. */
const FLAT: Readonly<Record<string, string>> = {
  prompt: 'content',
  image: 'content',
  images: 'content',
  input_reference: 'content',
  seconds: 'duration',
};
/** The orders on which the verdicts name another fault of the same order, and why. */
const OTHER_FAULT: Readonly<Record<string, string>> = {
  'Official generation: refuses source_task_id: it belongs to another operation': 'an order has this field',
  'Official generation: refuses a body shaped for regeneration': 'it has several faults',
  'Official generation: refuses a flat body': 'it has several faults',
  'Routing: the generation path never regenerates: a source_task_id is refused': 'it has several faults',
  'Official regeneration: refuses prompt: it is no field here': 'it has several faults',
  'Context-IR: refuses a body shaped for regeneration': 'it has several faults',
};

/** Media are fetched at the same time. Where several are refused, either verdict can name any of them. */
const hasSeveralMedia = ({ body }: Case): boolean => [...JSON.stringify(body).matchAll(/\{\{media\}\}/g)].length > 1;

const ROUTES = dialects.flatMap(({ creates }) => creates).filter(({ path }) => !path.includes('{'));

/** Every order of the public tables that needs no task and no other account. */
const CASES: readonly Case[] = ROWS.flatMap((row) => {
  const [step] = row.steps.filter((one) => typeof one !== 'function');
  return step === undefined ? [] : caseOf(row, step.request);
});

function caseOf({ section, name }: Row, { method, path, body, as = 'main', headers }: Request): readonly Case[] {
  const isOrder = typeof body === 'object' && body?.constructor === Object;
  if (method !== 'POST' || !isOrder || headers !== undefined || !['main', 'refusals'].includes(as)) return [];
  if (!ROUTES.some((route) => route.path === path)) return [];
  const text = JSON.stringify(body);
  return /\{\{(?!media\}\})/.test(text) || STEERED.test(text) ? [] : [{ title: `${section}: ${name}`, path, body }];
}

let sandbox: Sandbox;
let program: Program;
let http: HttpCaller;
let grpc: GrpcConnection;
let tokenId: string;
const verdicts = new Map<Case, Verdicts | 'no order says it'>();

beforeAll(async () => {
  sandbox = await startSandbox({ listen: '127.0.0.1:0', key: UPSTREAM_KEY, render: async () => new Uint8Array(0) });
  program = await newProgram('one program', { upstream: new URL(sandbox.url).host }, (config) => ({
    ...config,
    accounts: config.accounts.map((account) => ({ ...account, credit: '100000' })),
  }));
  await program.start();
  http = httpCaller(program.base, KEYS.demo);
  grpc = connectGrpc(program.config.tasks.listen, new Secret(callerKey('pipeline')));
  tokenId = (await listTokens(program, 'demo'))[0]!.id;
  const left = [...CASES];
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let one = left.shift(); one !== undefined; one = left.shift()) verdicts.set(one, await bothVerdicts(one));
    }),
  );
}, START_TIMEOUT_MS * 3);

afterAll(async () => {
  grpc?.close();
  await program?.end();
  await sandbox?.stop();
}, START_TIMEOUT_MS);

async function bothVerdicts({ path, body }: Case): Promise<Verdicts | 'no order says it'> {
  const sent = await filled(body, async () => MEDIA);
  const decoded = decodedOf(path, sent);
  const order = decoded instanceof Problem ? plainOrder(path, sent) : decoded.order;
  if (order === undefined || (!(decoded instanceof Problem) && decoded.inline.length > 0)) return 'no order says it';
  const clientField = decoded instanceof Problem ? (field: string) => field : decoded.clientField;
  return {
    answer: await http.call('POST', path, sent),
    refusal: await refusalOf(order, (field) => clientField(field.replace(/^order\./, ''))),
    ofDialect: decoded instanceof Problem ? decoded : undefined,
  };
}

/** The order of a body as the gateway sends it, or the refusal of its dialect. */
function decodedOf(path: string, body: object): DecodedOrder | Problem {
  const { models } = program.config;
  const known: Models = new Map(
    Object.entries(models).map(
      ([
        id,
        {
          duration: [min = 0, max = 0],
          resolutions,
          ratios,
        },
      ]) => {
        const model = { duration: { min, max }, resolutions, ratios };
        return [id, { ...model, defaults: chooseDefaults(model) }];
      },
    ),
  );
  try {
    return ROUTES.find((route) => route.path === path)!.decode({ json: body }, { models: known, params: {} });
  } catch (refusal) {
    if (refusal instanceof Problem) return refusal;
    throw refusal;
  }
}

async function refusalOf(order: OrderInit, clientField: (field: string) => string): Promise<Problem | undefined> {
  try {
    await grpc.client(TaskService).createTask({ accountId: 'demo', tokenId, order });
    return undefined;
  } catch (refusal) {
    if (!(refusal instanceof Problem)) throw refusal;
    const { kind, reason, message, retryAfterMs, field } = refusal;
    return new Problem({
      kind,
      reason,
      message,
      retryAfterMs,
      // a client has the extra fields among its others
      field: field === undefined ? field : clientField(field.replace(/^(?:order\.)?extra_json\./, '')),
    });
  }
}

/**
 * The answer of a path to a refusal. The envelope of /v2 has no reason; its type, its number and its message tell it.
 */
function answerTo(path: string, refusal: Problem): object {
  const { status, type, vendor } = findErrorRow(refusal);
  const { reason, field = null, message } = refusal;
  if (path.startsWith('/api/v1'))
    return {
      status,
      json: { error: { code: status, metadata: { reason, ...(field === null ? {} : { param: field }) } } },
    };
  return path.startsWith('/v1')
    ? { status, json: { error: { type, code: reason, param: field } } }
    : {
        status,
        json: {
          error: {
            type: vendor.type,
            message: `${field === null ? '' : `${field} `}${message} (${vendor.number})`,
          },
        },
      };
}

/** The field of an order that a field of a body belongs to, without what is below it. */
function headOf({ field = '' }: Problem): string {
  const [, name = '', index = ''] = /^([a-z_]*)(\[\d+\])?/.exec(field) ?? [];
  return (FLAT[name] ?? name) + (FLAT[name] === undefined ? index : '');
}

test('the tables of the contract hold orders of every create route', () => {
  expect(CASES.length).toBeGreaterThan(ORDERS_MIN);
  expect(new Set(CASES.map(({ path }) => path))).toEqual(new Set(ROUTES.map(({ path }) => path)));
});

describe.each(ROUTES.map(({ path }) => path))('an order of %s has the same verdict over gRPC', (route) => {
  test.each(CASES.filter(({ path }) => path === route).map((one) => [one.title, one] as const))('%s', (_title, one) => {
    const both = verdicts.get(one)!;
    if (both === 'no order says it') return;
    const { answer, refusal, ofDialect } = both;

    if (OTHER_FAULT[one.title] !== undefined || (refusal?.reason === 'invalid_media' && hasSeveralMedia(one))) {
      expect([answer.status, refusal?.kind]).toEqual([400, 'invalid']);
      return;
    }
    if (refusal === undefined) {
      expect(answer).toMatchObject({ status: one.path.startsWith('/api/v1') ? 202 : 200 });
      return;
    }
    expect(answer).toMatchObject(answerTo(one.path, ofDialect ?? refusal));
    expect({ reason: refusal.reason, field: headOf(refusal) }).toEqual({
      reason: (ofDialect ?? refusal).reason,
      field: headOf(ofDialect ?? refusal),
    });
  });
});

test('every exception is an order of the tables', () => {
  const titles = new Set(CASES.map(({ title }) => title));

  expect(Object.keys(OTHER_FAULT).filter((title) => !titles.has(title))).toEqual([]);
});

test('most orders of the tables are said over gRPC too', () => {
  const said = CASES.filter((one) => verdicts.get(one) !== 'no order says it');

  expect(said.length).toBeGreaterThan(ORDERS_MIN);
});
