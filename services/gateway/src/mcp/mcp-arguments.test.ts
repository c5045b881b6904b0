import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { TASK_ID, aCompletedTask, aTask } from '../../testing/a-task.ts';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { connectAgent } from '../../testing/mcp-agents.ts';
import type { Agent } from '../../testing/mcp-agents.ts';

const BOAT = { model: 'Alpha-H3', prompt: 'a boat' };
/** A wait for it ends at once. */
const DONE_ID = `task_${'9'.repeat(26)}`;
const BOUND = { max_amount: '0.40', currency: 'USD', idempotency_key: 'key-1' };

let under: GatewayUnderTest;
let agent: Agent;
beforeAll(async () => {
  under = await startGatewayUnderTest();
  agent = await connectAgent('2.x', under.url);
});
afterAll(async () => {
  await agent.close();
  await under.stop();
});
beforeEach(() => {
  under.tasks.tasks.clear();
  under.tasks.creates.length = 0;
  under.tasks.tasks.set(`demo/${TASK_ID}`, aTask());
  under.tasks.tasks.set(`demo/${DONE_ID}`, { ...aCompletedTask(), id: DONE_ID });
});

type Node = Readonly<Record<string, unknown>>;
interface ListedTool {
  readonly name: string;
  readonly inputSchema: Node;
  readonly outputSchema: Node;
}
const listTools = async (): Promise<readonly ListedTool[]> => (await agent.list()).tools as unknown as ListedTool[];

/** Every schema within a schema, with its path. `properties` is a table of schemas. */
function* walk(schema: Node, path: string): Generator<readonly [string, Node]> {
  yield [path, schema];
  for (const [name, value] of Object.entries((schema['properties'] ?? {}) as Readonly<Record<string, Node>>))
    yield* walk(value, `${path}.${name}`);
  if (schema['items'] !== undefined) yield* walk(schema['items'] as Node, `${path}[]`);
  for (const [index, one] of ((schema['anyOf'] ?? []) as readonly Node[]).entries())
    yield* walk(one, `${path}|${index}`);
}

describe('the published schema of every tool, of arguments and of results, at any depth', () => {
  const listSchemas = async (): Promise<readonly (readonly [string, Node])[]> =>
    (await listTools()).flatMap(({ name, inputSchema, outputSchema }) => [
      ...walk(inputSchema, `${name} arguments`),
      ...walk(outputSchema, `${name} result`),
    ]);

  test('has one type in every property, also beside an enum', async () => {
    const schemas = await listSchemas();

    expect(schemas.filter(([, { type }]) => typeof type !== 'string').map(([path]) => path)).toEqual([]);
    expect(schemas.filter(([, schema]) => 'enum' in schema).length).toBeGreaterThan(10);
  });
  test('has no keyword that a client of a vendor cannot read', async () => {
    const known = new Set([
      ...['type', 'properties', 'required', 'items', 'enum', 'description', 'anyOf'],
      ...['minimum', 'maximum', 'minLength', 'maxLength', 'pattern', 'maxItems', 'default'],
    ]);
    const schemas = await listSchemas();

    expect(
      schemas
        .flatMap(([path, schema]) => Object.keys(schema).map((key) => [path, key]))
        .filter(([, key]) => !known.has(key!)),
    ).toEqual([]);
    expect(schemas.filter(([path, { anyOf }]) => anyOf !== undefined && !path.endsWith(' result'))).toEqual([]);
  });
});

/** Arguments for each tool, with all that it requires. */
const CALLS: readonly (readonly [string, Node])[] = [
  ['video_models', {}],
  ['video_quote', BOAT],
  ['video_create', { ...BOAT, ...BOUND }],
  ['video_wait', { id: DONE_ID }],
  ['video_get', { id: TASK_ID }],
  ['video_list', {}],
  ['video_cancel', { id: TASK_ID }],
  ['usage_get', {}],
];

test.each(CALLS)(
  '%s takes null, an empty text or an empty list for each optional argument that is not meant',
  async (name, args) => {
    const tool = (await listTools()).find((one) => one.name === name)!;
    const optional = Object.entries(tool.inputSchema['properties'] as Readonly<Record<string, Node>>).filter(
      ([argument]) => args[argument] === undefined,
    );
    const plain = await agent.call(name, args);
    const fillings: readonly ((schema: Node) => unknown)[] = [
      () => null,
      () => '',
      () => '  ',
      ({ type }) => (type === 'array' ? [] : null),
    ];
    const answers = [];
    for (const fill of fillings) {
      const rest = Object.fromEntries(optional.map(([argument, schema]) => [argument, fill(schema)]));
      answers.push(await agent.call(name, { ...args, ...rest }));
    }

    expect(optional.length).toBeGreaterThan(name === 'video_cancel' ? -1 : 0);
    expect(plain.isError).toBeUndefined();
    expect(answers.map(({ structuredContent }) => structuredContent)).toEqual(
      fillings.map(() => plain.structuredContent),
    );
  },
);

test.each(CALLS)(
  '%s refuses null and an empty text for each argument that it requires, by its name',
  async (name, args) => {
    const tool = (await listTools()).find((one) => one.name === name)!;
    const required = (tool.inputSchema['required'] ?? []) as readonly string[];
    const refused = [];
    for (const argument of required)
      for (const empty of [null, ''])
        refused.push((await agent.call(name, { ...args, [argument]: empty })).structuredContent.error);

    expect(refused.map(({ field }: { readonly field: string }) => field)).toEqual(
      required.flatMap((argument) => [argument, argument]),
    );
    expect(under.tasks.creates).toEqual([]);
  },
);

test.each(CALLS)('%s still refuses an unknown argument by its name, also if it is null', async (name, args) => {
  expect((await agent.call(name, { ...args, account: null })).structuredContent.error).toMatchObject({
    code: 'unknown_field',
    field: 'account',
  });
});

describe('max_amount', () => {
  test.each([
    [0.4, 400_000_000n],
    [1, 1_000_000_000n],
    [12.345678901, 12_345_678_901n],
    [1e-9, 1n],
    ['0.40', 400_000_000n],
  ])('may be %p, and is read exactly', async (amount, nanos) => {
    const created = await agent.call('video_create', {
      ...BOAT,
      ...BOUND,
      max_amount: amount,
      idempotency_key: `${typeof amount}${nanos}`,
    });

    expect(created.isError).toBeUndefined();
    expect(under.tasks.creates[0]).toMatchObject({ maxAmountNanos: nanos });
  });
  test.each([0.1 + 0.2, 1e-10, 12_345_678_901_234_567, -1, true, {}, 'all', ['0.4']])(
    'must not be %p',
    async (amount) => {
      const refused = await agent.call('video_create', { ...BOAT, ...BOUND, max_amount: amount });

      expect([refused.isError, refused.structuredContent.error.field]).toEqual([true, 'max_amount']);
      expect(under.tasks.creates).toEqual([]);
    },
  );
  test('as a number is the same order as the text that a repeat sends', async () => {
    const first = await agent.call('video_create', { ...BOAT, ...BOUND, max_amount: 0.4, idempotency_key: 'same' });
    const again = await agent.call('video_create', { ...BOAT, ...BOUND, max_amount: '0.4', idempotency_key: 'same' });

    expect(again.structuredContent).toEqual(first.structuredContent);
    expect(under.tasks.tasks.size).toBe(3);
  });
});
