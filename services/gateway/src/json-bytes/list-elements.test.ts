import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { listElements } from './list-elements.ts';
import type { ListPosition } from './list-elements.ts';

function read(pieces: readonly string[]) {
  const seen = { all: '', elements: [] as string[], long: 0, positions: [] as ListPosition[] };
  const elements = listElements(1024 * 1024);
  for (const piece of pieces) {
    elements.take(Buffer.from(piece), {
      onBetween: (bytes) => void (seen.all += bytes.toString()),
      onElement: (element) => {
        seen.all += element.toString();
        seen.elements.push(element.toString());
      },
      onPiece: (bytes, ends) => {
        seen.all += bytes.toString();
        if (ends) seen.long += 1;
      },
    });
    seen.positions.push(elements.position());
  }
  return { ...seen, all: seen.all + elements.rest().toString() };
}

test('each element is found wherever the list is cut, and no byte is lost or changed', () => {
  const element = fc.dictionary(
    fc.string(),
    fc.oneof(
      fc.string(),
      fc.constantFrom('"', '\\', '}', '{[', '\\"'),
      fc.array(fc.dictionary(fc.string(), fc.integer())),
      fc.integer(),
    ),
  );
  fc.assert(
    fc.property(
      fc.array(element),
      fc.array(fc.integer({ min: 1, max: 20 })),
      fc.constantFrom(',', '\n,\r\n', ' , '),
      (values, cuts, comma) => {
        const texts = values.map((value) => JSON.stringify(value));
        const list = Buffer.from(`[${texts.join(comma)}]`).toString('latin1');
        const pieces: string[] = [];
        for (let at = 0, cut = 0; at < list.length; cut += 1) {
          const size = cuts[cut % Math.max(1, cuts.length)] ?? 7;
          pieces.push(list.slice(at, at + size));
          at += size;
        }
        const { all, elements } = read(pieces);

        expect(all).toBe(list);
        expect(elements).toEqual(texts.map((text) => Buffer.from(text).toString('latin1')));
      },
    ),
  );
});

test('an element that is too long to be held passes in pieces', () => {
  const long = `{"data":"${'x'.repeat(1_200_000)}"}`;
  const list = `[{"a":1},${long},{"b":2}]`;
  const { all, elements, long: count } = read(list.match(/[^]{1,65536}/g) ?? []);

  expect([all === list, elements, count]).toEqual([true, ['{"a":1}', '{"b":2}'], 1]);
});

test('the position describes the next byte', () => {
  expect(read([' ', '[', '{"a"', ':1}', ',', `{"b":"${'x'.repeat(1_100_000)}`, '"}', ']']).positions).toEqual([
    'before',
    'opened',
    'in_held_element',
    'behind_element',
    'behind_comma',
    'in_passing_element',
    'behind_element',
    'closed',
  ]);
});
