import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { OTHER_USAGES } from '../../../testing/vendor-other-usages.ts';
import { OWN_USAGES } from '../../../testing/vendor-own-usages.ts';
import { TEXT_USAGES } from '../../../testing/vendor-text-usages.ts';
import type { RelayCall } from '../requests/relay-call.ts';
import { openaiChat } from '../protocols/openai.ts';
import { relayEndpoints } from '../endpoints.ts';
import { readUsage } from './usage-in-bytes.ts';

const call = { endpoint: { protocol: openaiChat }, content: {} } as unknown as RelayCall;
const read = (text: string) => readUsage(Buffer.from(text), call);
const USAGE = '{"prompt_tokens":3,"completion_tokens":4}';
const KNOWN = { inputTokens: 3, outputTokens: 4 };

describe('the usage of a JSON answer is its own member, at any position', () => {
  test.each([
    `{"usage":${USAGE}}`,
    `{"choices":[{"text":"a } and a \\" and \\"usage\\":{}"}],"usage" : ${USAGE} }\n`,
    `{"usage":${USAGE},"service_tier":"default","system_fingerprint":null, "n": -1.5e3}`,
    `{"usage":${USAGE},"choices":[{"usage":{"prompt_tokens":99}}]}`,
    `{"usage":${USAGE},"more":{"usage":{"prompt_tokens":99}}}`,
    `{"usage":{"prompt_tokens":99},"usage":${USAGE}}`,
    `{"us\\u0061ge":${USAGE}}`,
    `[{"usage":{"prompt_tokens":99}},{"usage":${USAGE}}]`,
    `{"usage":${USAGE},"text":"ends in \\\\"}`,
  ])('%s', (text) => {
    expect(read(text)).toEqual(KNOWN);
  });
  test.each([
    '{}',
    '',
    'usage',
    '{"usage":null}',
    '{"usage":[]}',
    `{"more":{"usage":${USAGE}}}`,
    `{"text":"\\"usage\\":${USAGE.replaceAll('"', '\\"')}"}`,
  ])('and nothing else counts as usage: %s', (text) => {
    expect(read(text)).toBeUndefined();
  });
  test('and is the same as if the whole answer were parsed', () => {
    const usage = fc.record({ prompt_tokens: fc.nat(), completion_tokens: fc.nat() }, { requiredKeys: [] });
    const members = fc.array(
      fc.tuple(
        fc.oneof(fc.constantFrom('usage', 'choices', 'x"usage"'), fc.string()),
        fc.oneof(usage, fc.jsonValue({ maxDepth: 3 }), fc.record({ usage })),
      ),
      { maxLength: 5 },
    );
    fc.assert(
      fc.property(members, fc.constantFrom(undefined, 1), (pairs, spacing) => {
        const answer: unknown = JSON.parse(JSON.stringify(Object.fromEntries(pairs)));

        expect(read(JSON.stringify(answer, undefined, spacing))).toEqual(
          openaiChat.usageIn(answer as Record<string, unknown>, call.content),
        );
      }),
      { numRuns: 2000 },
    );
  });
});

test('the usage of a long answer is the same as if the whole answer were parsed, wherever it is', () => {
  const count = fc.oneof(fc.nat(), fc.nat().map(String), fc.constantFrom(null, -1, 2.5, 1e300));
  const name = fc.constantFrom(
    'prompt_tokens',
    'input_tokens',
    'completionTokens',
    'total_tokens',
    'cached_tokens',
    'cache_read_input_tokens',
    'reasoning_tokens',
    'num_search_queries',
    'seconds',
    'max_tokens',
  );
  const details = fc.dictionary(name, count, { maxKeys: 3 });
  const usage = fc.dictionary(fc.oneof(name, fc.constant('details')), fc.oneof(count, details, fc.array(details)), {
    maxKeys: 6,
  });
  const place = fc.constantFrom<(usage: object) => Record<string, unknown>>(
    (found) => ({ usage: found }),
    (found) => ({ usage: found, service_tier: 'default', n: 1 }),
    (found) => ({ usage: found, x_groq: { id: 'r' } }),
    (found) => ({ x_groq: { usage: found } }),
    (found) => ({ choices: [{ text: 'a', usage: found }] }),
    (found) => ({ usageMetadata: found, modelVersion: 'm' }),
    (found) => ({ usage_metadata: found }),
  );
  const pad = { pad: 'x'.repeat(70_000) };
  const shape = fc.constantFrom<(answer: object) => object>(
    (answer) => ({ ...answer, ...pad }),
    (answer) => ({ ...pad, ...answer }),
    (answer) => answer,
  );
  fc.assert(
    fc.property(usage, place, shape, fc.constantFrom(undefined, 1), (found, put, grow, spacing) => {
      const answer = grow(put(found));

      expect(read(JSON.stringify(answer, undefined, spacing))).toEqual(
        openaiChat.usageIn(answer as Record<string, unknown>, call.content),
      );
    }),
    { numRuns: 1000 },
  );
});

/** An answer of each protocol whose answers report usage. */
const ANSWERS: Readonly<Record<string, object>> = {
  'openai-chat': { usage: { prompt_tokens: 3, completion_tokens: 4 } },
  'openai-responses': { usage: { input_tokens: 3, output_tokens: 4 } },
  'anthropic-messages': { usage: { input_tokens: 3, output_tokens: 4 } },
  'google-generate': { usageMetadata: { promptTokenCount: 3, candidatesTokenCount: 4 } },
  embeddings: { usage: { prompt_tokens: 3 } },
  rerank: { meta: { billed_units: { input_tokens: 3 } } },
  images: { usage: { input_tokens: 3, output_tokens: 4 } },
  speech: { usage: { input_tokens: 3, output_tokens: 4 } },
  transcription: { usage: { input_tokens: 3, output_tokens: 4, seconds: 5 } },
};
/** Its answers are free, and report no usage. */
const WITHOUT_USAGE = ['anthropic-count'];
const PROTOCOLS = new Map(relayEndpoints.map(({ protocol }) => [protocol.name, protocol]));

test.each([...PROTOCOLS].filter(([name]) => !WITHOUT_USAGE.includes(name)))(
  'the usage of an answer of %s is found when the answer is too long to be parsed',
  (name, protocol) => {
    const content = { path: '/', json: { input: 'words' }, fields: new Map<string, string>(), bodyBytes: 100 };
    const answer = ANSWERS[name];
    if (answer === undefined) throw new Error(`the protocol ${name} has no answer in ANSWERS`);
    const long = Buffer.from(JSON.stringify({ pad: 'x'.repeat(100_000), ...answer }));
    const found = readUsage(long, { endpoint: { protocol }, content } as unknown as RelayCall);

    expect(found).toEqual(protocol.usageIn({ ...answer }, content));
    expect(Object.values(found ?? {})).toContain(3);
  },
);

test.each([...TEXT_USAGES, ...OWN_USAGES, ...OTHER_USAGES])(
  'the usage is found in a long answer of %s',
  (_vendor, protocol, answer, usage) => {
    const content = { path: '/', json: { input: 'ab' }, fields: new Map<string, string>(), bodyBytes: 100 };
    // a list of pictures, and the length of a recording, stand outside of the usage
    const { data: _data, ...reported } = answer;
    const long = Buffer.from(JSON.stringify({ pad: 'x'.repeat(100_000), ...reported }));

    expect(readUsage(long, { endpoint: { protocol }, content } as unknown as RelayCall)).toEqual(usage);
  },
);
