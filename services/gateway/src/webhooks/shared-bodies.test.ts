import { expect, test } from '@jest/globals';
import { anEvent } from '../../testing/a-webhook-fixture.ts';
import { shareBodies } from './shared-bodies.ts';
import type { BodyBytes } from './shared-bodies.ts';

/** Counts the bodies that are built, by event and payload. */
function counted(textOf: (id: string) => string): { readonly bodyOf: BodyBytes; readonly built: string[] } {
  const built: string[] = [];
  const bodyOf = shareBodies(async ({ id }, payload) => {
    built.push(`${id} ${payload}`);
    return textOf(id);
  });
  return { bodyOf, built };
}

test('a body is built once for all receivers of a lease, for each payload', async () => {
  const { bodyOf, built } = counted((id) => `ü ${id}`);
  const [one, two] = [anEvent({ id: 'evt_1' }), anEvent({ id: 'evt_2' })];

  expect(await bodyOf(one, 'thin')).toEqual(Buffer.from('ü evt_1'));
  for (const event of [one, two, one, two]) await bodyOf(event, 'thin');
  await bodyOf(one, 'full');

  expect(built).toEqual(['evt_1 thin', 'evt_2 thin', 'evt_1 full']);
});

test('a large body is not kept', async () => {
  const { bodyOf, built } = counted(() => 'a'.repeat(9000));

  for (let receiver = 0; receiver < 3; receiver += 1) expect((await bodyOf(anEvent(), 'full')).length).toBe(9000);

  expect(built).toHaveLength(3);
});
