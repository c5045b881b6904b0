import { execFileSync } from 'node:child_process';
import vm from 'node:vm';
import { create, toJson } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { MediaKind, MediaRole, OrderSchema, TaskKind } from '@reelgate/proto/tasks/v1/order';
import type { Order } from '@reelgate/proto/tasks/v1/order';
import { dialects } from '../../dialects/index.ts';
import { anOrder } from '../../../testing/a-task.ts';
import { toCreateCall, sameCall } from './same-call.ts';
import { javascriptLiteral, jsonText, pythonLiteral, shellWord } from './call-literals.ts';

const CALLER = { publicUrl: 'https://gateway.example', accountId: 'demo', tokenId: 'token_1' };
const media = (role: MediaRole, kind = MediaKind.IMAGE, url = 'https://x.example/a?b=1&c=2') => ({
  item: { case: 'media' as const, value: { kind, role, url } },
});
const text = (value: string) => ({ item: { case: 'text' as const, value } });

/** The order that the gateway would make of a call. */
function decoded(path: string, body: unknown): Order {
  const route = dialects.flatMap(({ creates }) => creates).find((one) => one.path === path);
  if (route === undefined) throw new Error(`no create is at ${path}`);
  return route.decode({ json: JSON.parse(JSON.stringify(body)) }, { models: new Map(), params: {} }).order;
}

/** The extra fields may change their order, which means nothing. */
function meaningOf(order: Order): unknown {
  const extra = order.extraJson === '' ? {} : (JSON.parse(order.extraJson) as object);
  return { ...(toJson(OrderSchema, order) as object), extra, extraJson: '' };
}

const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 40 }).filter((value) => value.trim() !== '');
const references = fc.array(
  fc.constantFrom(
    media(MediaRole.FIRST_FRAME),
    media(MediaRole.LAST_FRAME),
    media(MediaRole.UNSPECIFIED),
    media(MediaRole.REFERENCE_VIDEO, MediaKind.VIDEO),
    media(MediaRole.REFERENCE_AUDIO, MediaKind.AUDIO),
  ),
  { maxLength: 4 },
);
const content = fc
  .tuple(fc.array(words, { minLength: 1, maxLength: 2 }), references)
  .chain(([texts, items]) => fc.shuffledSubarray([...texts.map(text), ...items], { minLength: texts.length }))
  .filter((items) => items.some(({ item }) => item.case === 'text'));
/** The fields of an order that only its generator knows. */
const extras = fc.record(
  { seed: fc.nat(), style: fc.constant('noir'), aigc_watermark: fc.boolean(), user: fc.constant('me') },
  { requiredKeys: [] },
);
const duration = fc.integer({ min: 1, max: 60 });
const orders = fc.oneof(
  fc
    .record({
      content,
      duration,
      resolution: fc.constantFrom('768P', '2K'),
      ratio: fc.constantFrom('16:9', 'adaptive'),
      size: fc.constantFrom('1280x720', undefined),
      extraJson: extras.map((fields) => (Object.keys(fields).length === 0 ? '' : JSON.stringify(fields))),
    })
    .map(({ size, ...rest }) => anOrder({ ...rest, ...(size === undefined ? {} : { size }) })),
  // the vendor's shape: no field beyond its own, and a ratio only if it was given
  fc
    .record({ content, duration })
    .map((rest) => create(OrderSchema, { kind: TaskKind.GENERATION, model: 'Alpha-H3', resolution: '768P', ...rest })),
  fc
    .record({ content, duration })
    .map((rest) => create(OrderSchema, { kind: TaskKind.CONTEXT_IR, model: 'Alpha-H3', ratio: '1:1', ...rest })),
  fc.boolean().map((aigcWatermark) =>
    create(OrderSchema, {
      kind: TaskKind.REGENERATION,
      model: 'Alpha-H3',
      resolution: '2K',
      sourceTaskId: 'task_1',
      aigcWatermark,
    }),
  ),
  content.map((items) =>
    create(OrderSchema, {
      kind: TaskKind.REGENERATION,
      model: 'Alpha-H3',
      resolution: '2K',
      content: [...items, media(MediaRole.BASE_VIDEO, MediaKind.VIDEO)],
    }),
  ),
);

describe('the call of an order', () => {
  test('makes the same order, whatever the order is', () => {
    fc.assert(
      fc.property(orders, (order) => {
        const call = toCreateCall(order);
        if (call === undefined) throw new Error('there is no call for it');

        expect(meaningOf(decoded(call.path, call.body))).toEqual(meaningOf(order));
      }),
    );
  });

  test.each<[string, Partial<Parameters<typeof anOrder>[0]>, string, object]>([
    ['a prompt alone', {}, '/v1/videos', { prompt: 'a red boat' }],
    ['a field that only its generator knows', { extraJson: '{"seed":7}' }, '/v1/videos', { seed: 7 }],
    [
      'a picture without words',
      { content: [media(MediaRole.FIRST_FRAME)] },
      '/v2/video_generation',
      { content: [{ type: 'image_url', role: 'first_frame' }] },
    ],
  ])('with %s goes to the path that takes it', (_what, over, path, body) => {
    expect(toCreateCall(anOrder(over))).toMatchObject({ path, body });
  });

  test('is unknown if no path expresses the order', () => {
    const order = anOrder({ content: [media(MediaRole.FIRST_FRAME)], extraJson: '{"seed":1}' });

    expect(sameCall(order, CALLER)).toBeUndefined();
  });

  test('leaves out media that came as bytes, and says so', () => {
    const bytes = { item: { case: 'media' as const, value: { kind: MediaKind.IMAGE, object: 'obj_1' } } };
    const calls = [anOrder(), anOrder({ content: [text('a red boat'), bytes] })].map((order) =>
      sameCall(order, CALLER),
    );

    expect(calls.map((call) => call?.isPartial)).toEqual([false, true]);
    expect(calls[1]?.programs).toEqual(calls[0]?.programs);
  });
});

/** The text of a program by its id. */
function writeAll(over: Partial<Parameters<typeof anOrder>[0]> = {}): Readonly<Record<string, string>> {
  const call = sameCall(anOrder(over), CALLER);
  return Object.fromEntries((call?.programs ?? []).map(({ id, text: program }) => [id, program]));
}

describe('the programs of a call', () => {
  test('read the token from the environment', () => {
    expect(Object.keys(writeAll())).toEqual(['curl', 'openai_node', 'openai_python', 'ai_sdk', 'grpc_python']);
    expect(writeAll()).toEqual({
      curl: expect.stringContaining('Bearer $REELGATE_API_KEY'),
      openai_node: expect.stringContaining('process.env.REELGATE_API_KEY'),
      openai_python: expect.stringContaining('os.environ["REELGATE_API_KEY"]'),
      ai_sdk: expect.stringContaining('process.env.REELGATE_API_KEY'),
      grpc_python: expect.stringContaining('os.environ["REELGATE_CALLER_KEY"]'),
    });
  });

  test('give each run a key of its own, so that a repeated create makes no second task', () => {
    const { ai_sdk: _own, ...programs } = writeAll();
    const keys = Object.values(programs).filter((program) => /idempotency[-_]key/i.test(program));

    expect(keys).toHaveLength(4);
  });

  test.each([
    ['media', { content: [text('a red boat'), media(MediaRole.FIRST_FRAME)] }],
    ['two texts', { content: [text('a red boat'), text('at dawn')] }],
  ])('leave out the AI SDK for an order with %s, which it cannot express', (_what, over) => {
    expect(Object.keys(writeAll(over))).toEqual(['curl', 'openai_node', 'openai_python', 'grpc_python']);
  });

  test('print the text of a prompt enhancement, which has no video to save', () => {
    const order = create(OrderSchema, {
      kind: TaskKind.CONTEXT_IR,
      model: 'Alpha-H3',
      content: [text('a boat')],
      ratio: '1:1',
    });
    const programs = sameCall(order, CALLER)?.programs ?? [];

    expect(programs.map(({ id }) => id)).toEqual(['curl', 'openai_node', 'openai_python', 'grpc_python']);
    expect(programs.filter(({ text: program }) => program.includes('video.mp4'))).toEqual([]);
  });

  test('have each medium with its kind and role over gRPC', () => {
    expect(
      writeAll({ content: [text('go'), media(MediaRole.REFERENCE_AUDIO, MediaKind.AUDIO)] })['grpc_python'],
    ).toContain(
      'media=orders.MediaItem(kind=orders.MEDIA_KIND_AUDIO, role=orders.MEDIA_ROLE_REFERENCE_AUDIO, url="https://x.example/a?b=1&c=2")',
    );
  });
});

const NASTY = `'"\\$(id)\`id\`\${HOME}\n\r\t\u2028\u202e\u0000</script>🚤%s`;
const values = fc.oneof(
  fc.constant({ [NASTY]: [NASTY, true, null, {}, []], ['__proto__']: 1 }),
  fc.jsonValue({ maxDepth: 2, stringUnit: 'binary' }),
);

describe('a literal is the value that it stands for', () => {
  test('in JavaScript', () => {
    fc.assert(
      fc.property(values, (value) => {
        const read: unknown = vm.runInNewContext(`JSON.stringify(${javascriptLiteral(value)})`);

        expect(read).toBe(JSON.stringify(value));
      }),
    );
  });

  test('in a shell, which runs nothing of it', () => {
    fc.assert(
      fc.property(values, (value) => {
        const word = shellWord(jsonText(value));
        const read = execFileSync('sh', ['-c', `printf %s ${word}`], { encoding: 'utf8' });

        expect(JSON.parse(read)).toEqual(value);
      }),
      { numRuns: 20 },
    );
  });

  test('in Python', () => {
    const value = { [NASTY]: [NASTY, true, false, null, 0.5, {}, []] };

    expect(pythonLiteral(value)).toBe(
      [
        '{',
        `    "'\\"\\\\$(id)\`id\`\${HOME}\\n\\r\\t\\u2028\\u202e\\u0000</script>🚤%s": [`,
        `        "'\\"\\\\$(id)\`id\`\${HOME}\\n\\r\\t\\u2028\\u202e\\u0000</script>🚤%s",`,
        '        True,',
        '        False,',
        '        None,',
        '        0.5,',
        '        {},',
        '        []',
        '    ]',
        '}',
      ].join('\n'),
    );
  });
});
