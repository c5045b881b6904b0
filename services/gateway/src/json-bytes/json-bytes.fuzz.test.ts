import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { editStrings, newStringEditor, toPlaces } from './edit-strings.ts';
import { countTextBytes, withMember, withoutMember, iterateMembers, withModel } from './json-members.ts';
import { findLastObject, findObjectAtEnd } from './find-objects.ts';
import type { JsonObject } from './find-objects.ts';
import { hideInPieces, modelHider, modelRenamer } from './hide-model.ts';
import { isJsonInTurns } from './is-json.ts';
import { listElements } from './list-elements.ts';

/*
 * JSON.parse is the reference. A function reads or edits what parsing, editing and writing would give, or it leaves the
 * bytes as they are. There are two kinds of texts: generated texts with odd spacing, escapes, nesting and repeated
 * names, and mutated texts, as far as they are still JSON.
 */

const [FROM, TO] = ['gpt-x', 'mine'];
/** Names and strings with the characters of JSON's structure, and those that the product reads. */
const NAMES = ['model', 'modelVersion', 'usage', 'Model', 'mod', '"model"', 'a\\', '__proto__', 'text', ''];
const STRINGS = [
  FROM,
  `${FROM}-2026`,
  `models/${FROM}`,
  'model',
  'usage',
  '"model":"gpt-x"',
  '\\"',
  '}',
  ']',
  'ü🚤',
  '\\',
];
const names = fc.oneof(fc.constantFrom(...NAMES), fc.string({ maxLength: 4 }));
const strings = fc.oneof(fc.constantFrom(...STRINGS), fc.string({ unit: 'binary', maxLength: 30 }));
/** A string in which any character can be an escape, because some writers escape more than they must. */
const written = (texts: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(texts, fc.nat(12)).map(([text, at]) => {
    if (at >= 3 || at >= text.length) return JSON.stringify(text);
    const [before, after] = [JSON.stringify(text.slice(0, at)), JSON.stringify(text.slice(at + 1))];
    return `${before.slice(0, -1)}\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}${after.slice(1)}`;
  });
const space = fc.constantFrom('', '', '', ' ', '\n', '\t\r\n ');
const { object } = fc.letrec<Record<'value' | 'object' | 'list', string>>((tie) => ({
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(written(strings), fc.constantFrom('1', '-1.50e3', 'true', 'null', '0.1')),
    tie('object'),
    tie('list'),
  ),
  object: fc
    .array(fc.tuple(space, written(names), space, tie('value'), space), { maxLength: 5 })
    .map((members) => `{${members.map(([a, name, b, value, c]) => `${a}${name}${b}:${c}${value}${a}`).join(',')}}`),
  list: fc
    .array(fc.tuple(space, tie('value')), { maxLength: 4 })
    .map((all) => `[${all.map((one) => one.join('')).join(',')}]`),
}));
/** An object with usage at its end, like most answers. */
const endingInUsage = fc
  .tuple(object, object, fc.constantFrom('', ',"tier":null', ', "a":1 ,"b":"x"'))
  .map(([text, usage, more]) => `${text.slice(0, -1)}${text === '{}' ? '' : ','}"usage":${usage}${more}}`);
/** A text in which some characters are changed, removed or inserted. */
const mutated = fc
  .tuple(
    fc.oneof(object, endingInUsage),
    fc.array(fc.tuple(fc.nat(), fc.constantFrom('"', '\\', '{', '}', ',', ':', '[', ' ', 'x', '')), { maxLength: 3 }),
  )
  .map(([text, changes]) =>
    changes.reduce((left, [at, by]) => {
      const position = at % (left.length + 1);
      return left.slice(0, position) + by + left.slice(position + (at % 2));
    }, text),
  )
  // an unpaired surrogate has no bytes
  .map((text) => Buffer.from(text).toString());
const texts = fc.oneof(object, endingInUsage, mutated);
const SEED = 20_261_122;

/** Parses a text as an object; undefined: it is not an object. */
function parse(text: string): JsonObject | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

/** Edits each string member of a value. It keeps names that JavaScript treats differently, such as `__proto__`. */
function edited(value: unknown, edit: (name: string, text: string) => string): unknown {
  if (Array.isArray(value)) return value.map((one) => edited(one, edit));
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [
      name,
      typeof inner === 'string' ? edit(name, inner) : edited(inner, edit),
    ]),
  );
}

/** Runs a check on every text that is an object. On any other text the function must only return. */
function check(reads: (bytes: Buffer) => unknown, compare: (text: string, json: JsonObject) => void): void {
  let objects = 0;
  fc.assert(
    fc.property(texts, (text) => {
      const json = parse(text);
      if (json === undefined) {
        reads(Buffer.from(text));
        return;
      }
      objects += 1;
      compare(text, json);
    }),
    { numRuns: 3000, seed: SEED },
  );
  expect(objects).toBeGreaterThan(1000);
}

test('the members of an object are those that JSON.parse finds', () => {
  const read = (bytes: Buffer): readonly (readonly [string, string])[] =>
    [...iterateMembers(bytes)].map(({ name, valueStart, valueEnd }) => [
      name,
      bytes.toString('utf8', valueStart, valueEnd),
    ]);
  check(read, (text, json) => {
    expect(
      Object.fromEntries(read(Buffer.from(text)).map(([name, value]) => [name, JSON.parse(value) as unknown])),
    ).toEqual(json);
  });
});

describe('an edited object', () => {
  const after = (edit: (bytes: Buffer) => Buffer, text: string): unknown =>
    JSON.parse(edit(Buffer.from(text)).toString());

  test.each(['model', 'usage', '__proto__', 'a\\'])('has the new value under %s', (name) => {
    const edit = (bytes: Buffer): Buffer => withMember(bytes, name, '{"x":[1]}');

    check(edit, (text, json) => {
      expect(after(edit, text)).toEqual(Object.fromEntries([...Object.entries(json), [name, { x: [1] }]]));
    });
  });

  test.each(['model', 'usage', '__proto__', 'a\\'])('has no member called %s', (name) => {
    const edit = (bytes: Buffer): Buffer => withoutMember(bytes, name);

    check(edit, (text, json) => {
      expect(after(edit, text)).toEqual(Object.fromEntries(Object.entries(json).filter(([key]) => key !== name)));
    });
  });

  test.each([TO, FROM])('names the model %s if it named one before', (to) => {
    const edit = (bytes: Buffer): Buffer => withModel(bytes, FROM, to);

    check(edit, (text, json) => {
      if (json['model'] !== FROM) return;
      expect(after(edit, text)).toEqual(Object.fromEntries([...Object.entries(json), ['model', to]]));
    });
  });
});

describe('a hidden model', () => {
  const isModel = (name: string): boolean => name === 'model' || name === 'modelVersion';
  const isUpstream = (text: string): boolean => text.replace(/^models\//, '').startsWith(FROM);
  const { hide } = modelHider(TO, FROM);
  /** A value without escapes is hidden; any other value stays. */
  const compare = (before: JsonObject, after: unknown, plain: boolean): void => {
    const all = edited(before, (name, text) => (isModel(name) && isUpstream(text) ? TO : text));
    if (plain) expect(after).toEqual(all);
    else
      expect(edited(after, (name, text) => (isModel(name) && (isUpstream(text) || text === TO) ? '' : text))).toEqual(
        edited(before, (name, text) => (isModel(name) && (isUpstream(text) || text === TO) ? '' : text)),
      );
  };

  test('is hidden at any depth, and nothing else changes', () => {
    check(hide, (text, json) => {
      compare(json, JSON.parse(hide(Buffer.from(text)).toString()), !text.includes('\\u00'));
    });
  });

  test('is hidden wherever the text is cut', () => {
    fc.assert(
      fc.property(object, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const pieces = hideInPieces({ hide });
        const out: Buffer[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const size = cuts[cut % cuts.length]!;
          out.push(pieces.take(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(Buffer.concat([...out, pieces.rest()]).toString()).toBe(hide(bytes).toString());
      }),
      { numRuns: 1000, seed: SEED },
    );
  });

  test('a model without escapes is renamed at any depth, and nothing else changes', () => {
    const rename = modelRenamer(FROM, TO);
    check(rename, (text, json) => {
      const renamed: unknown = JSON.parse(rename(Buffer.from(text)).toString());
      const wanted = edited(json, (name, value) => (name === 'model' && value === FROM ? TO : value));
      if (text.includes('\\u00')) {
        const same = (name: string, value: string): string => (name === 'model' && value === FROM ? TO : value);
        expect(edited(renamed, same)).toEqual(wanted);
      } else expect(renamed).toEqual(wanted);
    });
  });
});

test('the object at the end is the one that JSON.parse finds under that name, or none', () => {
  let found = 0;
  check(
    (bytes) => findObjectAtEnd(bytes, 'usage'),
    (text, json) => {
      const read = findObjectAtEnd(Buffer.from(text), 'usage');
      if (read === undefined) return;
      found += 1;
      expect(read).toEqual(json['usage']);
    },
  );
  expect(found).toBeGreaterThan(500);
});

test('the last object under a name is the last one in the parsed text, or none', () => {
  const walk = (value: unknown): readonly unknown[] =>
    typeof value !== 'object' || value === null
      ? []
      : Object.entries(value).flatMap(([name, inner]) => [...(name === 'usage' ? [inner] : []), ...walk(inner)]);
  let found = 0;
  check(
    (bytes) => findLastObject(bytes, 'usage'),
    (_, json) => {
      const read = findLastObject(Buffer.from(JSON.stringify(json)), 'usage');
      if (read === undefined) return;
      found += 1;
      expect(read).toEqual(walk(json).at(-1));
    },
  );
  expect(found).toBeGreaterThan(500);
});

test('the text under a name has as many bytes as JSON.stringify writes for its strings', () => {
  const walk = (value: unknown): number =>
    typeof value !== 'object' || value === null
      ? 0
      : Object.entries(value).reduce(
          (sum, [name, inner]) =>
            sum +
            (name === 'text' && typeof inner === 'string' ? Buffer.byteLength(JSON.stringify(inner)) - 2 : walk(inner)),
          0,
        );
  check(
    (bytes) => countTextBytes(bytes, Buffer.from('"text"')),
    (_, json) => {
      expect(countTextBytes(Buffer.from(JSON.stringify(json)), Buffer.from('"text"'))).toBe(walk(json));
    },
  );
});

test('the elements of a list are those that JSON.parse finds, wherever the list is cut', () => {
  const lists = fc.array(object, { maxLength: 5 }).map((all) => `[${all.join(' ,\n')}]`);
  fc.assert(
    fc.property(fc.oneof(lists, mutated), fc.integer({ min: 1, max: 30 }), (text, size) => {
      const bytes = Buffer.from(text);
      const elements = listElements(1024);
      const [found, all]: [string[], Buffer[]] = [[], []];
      for (let at = 0; at < bytes.length; at += size)
        elements.take(bytes.subarray(at, at + size), {
          onBetween: (piece) => void all.push(piece),
          onElement: (element) => {
            all.push(element);
            found.push(element.toString());
          },
          onPiece: (piece) => void all.push(piece),
        });
      expect(Buffer.concat([...all, elements.rest()]).toString()).toBe(text);
      if (!text.startsWith('[') || bytes.length > 1024 || !isJson(text)) return;
      expect(found.map((one) => JSON.parse(one) as unknown)).toEqual(JSON.parse(text));
    }),
    { numRuns: 2000, seed: SEED },
  );
});

test('a text is JSON if JSON.parse takes it', async () => {
  let valid = 0;
  await fc.assert(
    fc.asyncProperty(
      fc.oneof(texts, fc.json(), fc.constantFrom('', ' ', '1 2', '[1,]', '{"a"}', '-', '"\n"')),
      async (text) => {
        const expected = isJson(text);
        valid += expected ? 1 : 0;
        expect(await isJsonInTurns(Buffer.from(text), 0)).toBe(expected);
      },
    ),
    { numRuns: 3000, seed: SEED },
  );
  expect(valid).toBeGreaterThan(1000);
});

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe('an edited string', () => {
  const PATHS = ['model', 'usage.text', 'usage[].model', 'text.*', 'text.*[]'];
  const places = toPlaces(PATHS.map((path) => ({ path })));
  const mark = { edit: (_place: object, value: string | undefined) => value && `${value}!` };
  const edit = (bytes: Buffer): Buffer => editStrings(bytes, places, mark);
  const fold = (name: string): string => name.toUpperCase().toLowerCase().replaceAll('_', '');
  /** Edits a parsed value at the paths whose rest is left here. */
  const editParsed = (value: unknown, left: readonly (readonly string[])[]): unknown => {
    const below = (step: string, or = step): string[][] => {
      const named = left.filter(([first]) => first === step);
      return (named.length > 0 ? named : left.filter(([first]) => first === or)).map((path) => path.slice(1));
    };
    if (typeof value === 'string') return left.some((path) => path.length === 0) ? mark.edit({}, value) : value;
    if (Array.isArray(value)) return value.map((one) => editParsed(one, below('[]')));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, inner]) => [name, editParsed(inner, below(fold(name), '*'))]),
    );
  };
  const paths = PATHS.map((path) => path.match(/\[\]|[^.[\]]+/g)!);

  test('stands at one of the places, and nothing else changes', () => {
    check(edit, (text, json) => {
      expect(JSON.parse(edit(Buffer.from(text)).toString())).toEqual(editParsed(json, paths));
    });
  });

  test('is the same wherever the text is cut', () => {
    fc.assert(
      fc.property(texts, fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 }), (text, cuts) => {
        const bytes = Buffer.from(text);
        const editor = newStringEditor(places, mark);
        const out: Buffer[] = [];
        for (let at = 0, cut = 0; at < bytes.length; cut += 1) {
          const size = cuts[cut % cuts.length]!;
          out.push(editor.take(bytes.subarray(at, at + size)));
          at += size;
        }
        expect(Buffer.concat([...out, editor.rest()]).toString()).toBe(edit(bytes).toString());
      }),
      { numRuns: 1000, seed: SEED },
    );
  });
});
