import { create, fromJsonString, toBinary, toJson } from '@bufbuild/protobuf';
import type { DescMessage, JsonValue } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { AccountService } from '@reelgate/proto/billing/v1/account_service';
import { BillingService } from '@reelgate/proto/billing/v1/billing_service';
import { CallService } from '@reelgate/proto/billing/v1/call_service';
import { UsageService } from '@reelgate/proto/billing/v1/usage_service';
import { DiagnosisService } from '@reelgate/proto/diagnosis/v1/diagnosis_service';
import { MediaService } from '@reelgate/proto/media/v1/media_service';
import { OperatorService as MediaOperatorService } from '@reelgate/proto/media/v1/operator_service';
import { JobService } from '@reelgate/proto/tasks/v1/job_service';
import { OperatorService } from '@reelgate/proto/tasks/v1/operator_service';
import { CreateTaskRequestSchema, ListTasksRequestSchema, TaskService } from '@reelgate/proto/tasks/v1/task_service';
import { WebhookAttemptSchema } from '@reelgate/proto/tasks/v1/webhook';
import { WebhookService } from '@reelgate/proto/tasks/v1/webhook_service';
import { aMessage } from '../../testing/a-message.ts';
import { arbitraryMessage } from '../../testing/arbitrary-message.ts';
import { unruled } from '../../testing/unruled.ts';
import { Problem } from '../problem.ts';
import { compileRuleCheck } from './rules.ts';
import { assertJson, readStrictJson } from './strict-json.ts';

const UNKNOWN = 99 as unknown as object;
const SERVICES = [
  TaskService,
  JobService,
  WebhookService,
  OperatorService,
  AccountService,
  BillingService,
  CallService,
  UsageService,
  MediaService,
  MediaOperatorService,
  DiagnosisService,
];
/** Requests and answers: an answer has types that no request has. */
const MESSAGES = [
  ...new Set(SERVICES.flatMap(({ methods }) => methods.flatMap(({ input, output }) => [input, output]))),
];

function refusalOf(message: DescMessage, text: string): Problem | undefined {
  try {
    assertJson(message, text);
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return error as Problem;
  }
}

function said(message: DescMessage, text: string): string | undefined {
  const refusal = refusalOf(message, text);
  return refusal && `${refusal.field ?? ''}: ${refusal.message}`;
}

describe('a name that is no field', () => {
  test.each([
    [
      '{"idempotencykey":"k"}',
      'idempotencykey: is not a field of CreateTaskRequest; did you mean idempotency_key (idempotencyKey)',
    ],
    ['{"Order":{}}', 'Order: is not a field of CreateTaskRequest; did you mean order'],
    [
      '{"order":{"content":[{"text":"a"},{"media":{"uri":"http://a"}}]}}',
      'order.content[1].media.uri: is not a field of MediaItem; did you mean url',
    ],
    [
      '{"order":{"content":[{"picture":"a"}]}}',
      'order.content[0].picture: is not a field of ContentItem; its fields are text, media',
    ],
    [
      '{"order":{"sourceTaskID":"a"}}',
      'order.sourceTaskID: is not a field of Order; did you mean source_task_id (sourceTaskId)',
    ],
    [
      '{"[reelgate.rules.v1.field]":1}',
      /^"\[reelgate.rules.v1.field\]": is not a field of CreateTaskRequest; its fields/,
    ],
    [`{"${'x'.repeat(1000)}":1}`, new RegExp(`^x{64}…: is not a field|^"x{64}…": is not a field`)],
    ['{"__proto__":{"a":1}}', /^__proto__: is not a field of CreateTaskRequest; its fields are account_id, /],
  ])('%s', (text, expected) => {
    expect(said(CreateTaskRequestSchema, text)).toEqual(
      typeof expected === 'string' ? expected : expect.stringMatching(expected),
    );
    expect(refusalOf(CreateTaskRequestSchema, text)).toMatchObject({ kind: 'invalid', reason: 'unknown_field' });
  });

  test('of a message without fields', () => {
    expect(said(aMessage({ fields: {} }), '{"a":1}')).toBe('a: is not a field of Outer; it has none');
  });
});

describe('a field given twice', () => {
  test.each([
    ['{"account_id":"a","account_id":"a"}', 'account_id: is given twice; send it once'],
    ['{"accountId":"a","account_id":null}', 'account_id: is given twice, as accountId and as account_id; send it once'],
    ['{"accountId":"a","\\u0061ccountId":"b"}', 'account_id: is given twice; send it once'],
    ['{"order":{"model":"a","model":"b"}}', 'order.model: is given twice; send it once'],
    ['{"order":{"content":[{"text":"a","media":{}}]}}', 'order.content[0].item: has text and media; send one of them'],
  ])('%s', (text, expected) => {
    expect(said(CreateTaskRequestSchema, text)).toBe(expected);
  });

  test('a key of a map too', () => {
    expect(said(WebhookAttemptSchema, '{"requestHeaders":{"a":"1","b":"2","a":"3"}}')).toBe(
      'request_headers["a"]: is given twice; send it once',
    );
    expect(said(WebhookAttemptSchema, '{"requestHeaders":{"a":1}}')).toBe(
      'request_headers["a"]: must be a string; it is 1',
    );
  });
});

describe('a value that the contract does not name', () => {
  test.each([
    [
      '{"states":["TASK_STATE_DONE"]}',
      /^states\[0\]: has the unknown value "TASK_STATE_DONE"; must be one of TASK_STATE_/,
    ],
    ['{"states":["TASK_STATE_QUEUED",99]}', /^states\[1\]: has the unknown value 99; must be one of TASK_STATE_/],
    ['{"states":["task_state_queued"]}', /^states\[0\]: has the unknown value "task_state_queued"; must be one of/],
    ['{"states":[1.5]}', /^states\[0\]: has the unknown value 1.5; must be one of/],
    ['{"states":[null]}', /^states\[0\]: must be one of TASK_STATE_.*; it is null$/],
    ['{"states":"TASK_STATE_QUEUED"}', /^states: must be a list; it is a string$/],
    ['{"kind":"VIDEO"}', /^kind: has the unknown value "VIDEO"; must be one of TASK_KIND_GENERATION, /],
    ['{"kind":true}', /^kind: must be one of TASK_KIND_GENERATION, .*; it is true or false$/],
  ])('%s', (text, expected) => {
    expect(said(ListTasksRequestSchema, text)).toMatch(expected);
  });
});

describe('a value of another type, or out of range', () => {
  test.each([
    ['[]', ': the body must be an object with the fields of ListTasksRequest; it is a list'],
    ['null', ': the body must be an object with the fields of ListTasksRequest; it is null'],
    ['{"account_id":7}', 'account_id: must be a string; it is 7'],
    ['{"account_id":"\\ud800"}', 'account_id: must be Unicode; half of a surrogate pair is not'],
    ['{"limit":"ten"}', 'limit: must be a whole number; it is "ten"'],
    ['{"limit":""}', 'limit: must be a whole number; it is ""'],
    ['{"limit":"0x10"}', 'limit: must be a whole number; it is "0x10"'],
    ['{"limit":"01"}', 'limit: must be a whole number; it is "01"'],
    ['{"limit":1.5}', 'limit: must be a whole number; it is 1.5'],
    ['{"limit":{}}', 'limit: must be a whole number; it is an object'],
    ['{"limit":2147483648}', 'limit: must be from -2147483648 to 2147483647; it is 2147483648'],
    ['{"ascending":"true"}', 'ascending: must be true or false; it is "true"'],
    ['{"ascending":1}', 'ascending: must be true or false; it is 1'],
    ['{"task_ids":[null]}', 'task_ids[0]: must be a string; it is null'],
    ['{"created_from":1700000000}', 'created_from: must be a time such as "2026-01-31T12:00:00Z"; it is 1700000000'],
    ['{"created_from":"yesterday"}', 'created_from: must be a time such as "2026-01-31T12:00:00Z"; it is "yesterday"'],
    [
      '{"created_from":"2026-02-30T00:00:00Z"}',
      'created_from: must be a time such as "2026-01-31T12:00:00Z"; it is "2026-02-30T00:00:00Z"',
    ],
  ])('%s', (text, expected) => {
    expect(said(ListTasksRequestSchema, text)).toBe(expected);
  });

  const all = aMessage({
    fields: { sum: { type: 'int64' }, share: { type: 'double' }, data: { type: 'bytes' }, inner: { type: 'message' } },
    inner: { a: { type: 'string' } },
  });

  test.each([
    [
      '{"sum":9007199254740993}',
      'sum: must be written as a string, such as "9007199254740993", because it is beyond 2^53',
    ],
    [
      '{"sum":"9223372036854775808"}',
      'sum: must be from -9223372036854775808 to 9223372036854775807; it is 9223372036854775808',
    ],
    ['{"sum":1e300}', 'sum: must be from -9223372036854775808 to 9223372036854775807; it is 1e300'],
    ['{"sum":"1e3"}', 'sum: must be a whole number; it is "1e3"'],
    [
      `{"sum":"${'9'.repeat(100_000)}"}`,
      `sum: must be from -9223372036854775808 to 9223372036854775807; it is ${'9'.repeat(64)}…`,
    ],
    [
      '{"share":"much"}',
      'share: must be a number from -1.7976931348623157e+308 to 1.7976931348623157e+308; it is "much"',
    ],
    ['{"share":" 1"}', 'share: must be a number from -1.7976931348623157e+308 to 1.7976931348623157e+308; it is " 1"'],
    [
      '{"share":1e999}',
      'share: must be a number from -1.7976931348623157e+308 to 1.7976931348623157e+308; it is 1e999',
    ],
    ['{"data":7}', 'data: must be a string in base64; it is 7'],
    ['{"data":"a b?"}', 'data: must be a string in base64; it is "a b?"'],
    ['{"inner":"a"}', 'inner: must be an object; it is a string'],
    ['{"inner":[]}', 'inner: must be an object; it is a list'],
  ])('%s', (text, expected) => {
    expect(said(all, text)).toBe(expected);
  });

  test.each([
    '{"sum":"-5"}',
    '{"sum":1e3}',
    '{"sum":null}',
    '{"share":"NaN"}',
    '{"share":"1.5"}',
    '{"data":"YQ"}',
    '{}',
  ])('%s is right', (text) => {
    expect(said(all, text)).toBeUndefined();
  });
});

describe('what is not JSON is named with its place', () => {
  test.each([
    ['', 'the body is empty; send {} for a request without fields'],
    [' \n', 'the body is empty; send {} for a request without fields'],
    ['{', "the body is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
    [
      '{"a":1\n"b":2}',
      "the body is not JSON: Expected ',' or '}' after property value in JSON at position 7 (line 2 column 1)",
    ],
    ['{"a" 1}', "the body is not JSON: Expected ':' after property name in JSON at position 5 (line 1 column 6)"],
    ["{'a':1}", "the body is not JSON: Expected property name or '}' in JSON at position 1 (line 1 column 2)"],
    ['{"a":1,}', 'the body is not JSON: Expected double-quoted property name in JSON at position 7 (line 1 column 8)'],
    ['[1,', 'the body is not JSON: Unexpected end of JSON input'],
    ['{"a":"b}', 'the body is not JSON: Unterminated string in JSON at position 8 (line 1 column 9)'],
    ['{"a":"b\n"}', /^the body is not JSON: Bad control character in string literal .* \(line 1 column 8\)$/],
    ['{"a":"\\x"}', 'the body is not JSON: Bad escaped character in JSON at position 7 (line 1 column 8)'],
    ['{} {}', /^the body is not JSON: Unexpected non-whitespace character after JSON .* \(line 1 column 4\)$/],
    ['account_id=demo', `the body is not JSON: Unexpected token 'a', "account_id=demo" is not valid JSON`],
  ])('%j', (text, expected) => {
    const refused = refusalOf(CreateTaskRequestSchema, text);

    expect(refused).toMatchObject({ kind: 'invalid', reason: 'invalid_json', field: undefined });
    expect(refused?.message).toEqual(typeof expected === 'string' ? expected : expect.stringMatching(expected));
  });

  test('bytes that are not UTF-8', () => {
    expect(() => readStrictJson(CreateTaskRequestSchema, Uint8Array.of(0x22, 0xff, 0x22))).toThrow(
      'the body is not JSON in UTF-8',
    );
  });

  test('a nesting deeper than the bound', () => {
    const nested = (depth: number): Uint8Array => Buffer.from('['.repeat(depth) + ']'.repeat(depth));

    expect(() => readStrictJson(CreateTaskRequestSchema, nested(64))).toThrow('the body must be an object');
    expect(() => readStrictJson(CreateTaskRequestSchema, nested(100_000))).toThrow(
      'the body must not nest deeper than 64 levels',
    );
  });
});

test('the contracts have only types whose JSON is checked', () => {
  const seen = new Set<DescMessage>();
  const visit = (message: DescMessage): void => {
    if (seen.has(message)) return;
    seen.add(message);
    for (const field of message.fields) if (field.message !== undefined) visit(field.message);
  };
  for (const message of MESSAGES) visit(message);
  const names = [...seen].map(({ typeName }) => typeName).filter((name) => name.startsWith('google.'));

  expect(names.toSorted()).toEqual(['google.protobuf.Duration', 'google.protobuf.Timestamp']);
});

/** A name in a JSON message that stands for a field, with the object around it. */
interface Named {
  readonly holder: Record<string, JsonValue>;
  readonly name: string;
  readonly of: DescMessage;
}

function namesIn(message: DescMessage, json: JsonValue): readonly Named[] {
  if (typeof json !== 'object' || json === null || Array.isArray(json)) return [];
  return Object.entries(json).flatMap(([name, value]) => {
    const { fieldKind, message: inner } = message.fields.find((field) => field.jsonName === name)!;
    const values = fieldKind === 'list' ? (value as JsonValue[]) : [value];
    const below = inner === undefined ? [] : values.flatMap((one) => namesIn(inner, one));
    return [{ holder: json, name, of: message }, ...below];
  });
}

const anyMessage = fc
  .constantFrom(...MESSAGES)
  .chain((message) => arbitraryMessage(message).map((value) => ({ message, value })));

test('every message of the contracts is read as it was written, in both spellings', () => {
  fc.assert(
    fc.property(anyMessage, fc.boolean(), ({ message, value }, useProtoFieldName) => {
      const text = JSON.stringify(toJson(message, value, { useProtoFieldName }));

      const read = fromJsonString(message, readStrictJson(message, new TextEncoder().encode(text)));

      // as bytes, because no NaN equals another one
      expect(toBinary(message, read)).toEqual(toBinary(message, value));
    }),
    { numRuns: 500 },
  );
});

test('whatever single change makes a name unknown, the name is refused with its path', () => {
  fc.assert(
    fc.property(
      anyMessage,
      fc.nat(),
      fc.nat(),
      fc.nat(1),
      fc.constantFrom('', '_', 'x', 'S', '-', ' ', 'é', '.'),
      ({ message, value }, which, place, removed, added) => {
        const json = toJson(message, value) as Record<string, JsonValue>;
        const names = namesIn(message, json);
        fc.pre(names.length > 0);
        const { holder, name, of } = names[which % names.length]!;
        const at = place % (name.length + 1);
        const changed = name.slice(0, at) + added + name.slice(at + removed);
        fc.pre(!of.fields.some((field) => field.jsonName === changed || field.name === changed));
        holder[changed] = holder[name] ?? null;
        Reflect.deleteProperty(holder, name);

        const refusal = refusalOf(message, JSON.stringify(json));

        expect(refusal).toMatchObject({ kind: 'invalid', reason: 'unknown_field' });
        expect(refusal?.field).toMatch(/^[\w.-]+$/.test(changed) ? changed : JSON.stringify(changed));
        expect(refusal?.message).toContain(`is not a field of ${of.name}; `);
      },
    ),
    { numRuns: 500 },
  );
});

test('what is let through, the library reads', () => {
  fc.assert(
    fc.property(
      fc
        .constantFrom(...MESSAGES)
        .chain((message) =>
          fc
            .dictionary(
              fc.constantFrom(...message.fields.map(({ name }) => name), 'other'),
              fc.jsonValue({ maxDepth: 3 }),
            )
            .map((json) => ({ message, json })),
        ),
      ({ message, json }) => {
        const written = JSON.stringify(json);
        if (refusalOf(message, written) !== undefined) return;

        expect(() => fromJsonString(message, written, { ignoreUnknownFields: false })).not.toThrow();
      },
    ),
    { numRuns: 2000 },
  );
});

/** Each single enum of a message with a value of it, because some are required. */
function namedEnums({ fields }: DescMessage): object {
  return Object.fromEntries(
    fields.flatMap((field) => (field.fieldKind === 'enum' ? [[field.localName, field.enum.values[1]?.number]] : [])),
  );
}

/** A request with an unknown value of one enum, with the path of that value. */
function unknownValues(
  message: DescMessage,
  above: readonly DescMessage[] = [],
): readonly (readonly [string, object])[] {
  if (above.includes(message)) return [];
  return message.fields.flatMap((field) => {
    const inner =
      field.enum === undefined
        ? field.message === undefined
          ? []
          : unknownValues(field.message, [...above, message]).map(([path, init]) => [`.${path}`, init] as const)
        : [['', UNKNOWN] as const];
    const isList = field.fieldKind === 'list';
    return inner.map(([path, value]) => {
      const whole = isList ? [value] : value;
      const init =
        field.oneof === undefined
          ? { ...namedEnums(message), [field.localName]: whole }
          : { [field.oneof.localName]: { case: field.localName, value: whole } };
      return [`${field.name}${isList ? '[0]' : ''}${path}`, init] as const;
    });
  });
}

const enums = SERVICES.flatMap((service) =>
  unruled(service).methods.flatMap(({ name, input }) =>
    unknownValues(input).map(([path, init]) => ({ name, path, input, init })),
  ),
);

test('there are such values', () => {
  expect(enums.map(({ name, path }) => `${name} ${path}`)).toEqual(
    expect.arrayContaining(['ListTasks states[0]', 'CheckOrder order.content[0].media.role']),
  );
});

test.each(enums)('a binary $name with an unknown number at $path is refused', ({ path, input, init }) => {
  expect(() => {
    compileRuleCheck(input)(create(input, init as never));
  }).toThrow(expect.objectContaining({ field: path, message: expect.stringContaining('has the unknown value 99; ') }));
});
