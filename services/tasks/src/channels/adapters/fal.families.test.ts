import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { FAL_MODELS } from './fal.families.ts';
import { listEndpoints } from './fal.models.ts';
import type { FalEndpoint } from './fal.models.ts';

const client = createRequire(import.meta.url).resolve('@fal-ai/client');
const text = readFileSync(path.join(path.dirname(client), 'types/endpoints.d.ts'), 'utf8');
const INPUTS = new Map([...text.matchAll(/^ {4}"([^"]+)": \{\s*input: (\w+);/gm)].map(([, id, type]) => [id, type]));
const ALIASES = new Map([...text.matchAll(/^export type (\w+) = (\w+);$/gm)].map(([, name, of]) => [name, of]));
const TYPES = new Map([...text.matchAll(/^export type (\w+) = \{\n([^]*?)^\};$/gm)].map(([, name, of]) => [name, of]));

const ENDPOINTS = Object.entries(FAL_MODELS).flatMap(([id, model]) =>
  listEndpoints(model).map((endpoint): [string, FalEndpoint] => [(model.base ?? id) + endpoint.path, endpoint]),
);

/** The types of the input fields of an endpoint, by their names. */
function readInput(id: string): ReadonlyMap<string, string> {
  let type = INPUTS.get(id) ?? '';
  while (ALIASES.has(type)) type = ALIASES.get(type) ?? '';
  return new Map(
    [...(TYPES.get(type) ?? '').matchAll(/^ {4}(\w+)\??:([^;]*);/gm)].map(([, name = '', of = '']) => [name, of]),
  );
}

test.each(ENDPOINTS)('the endpoint %s takes in the client of the vendor what its row names', (id, endpoint) => {
  const { fields, fixed = {}, extra = [], soundField = 'generate_audio', resolutions = [], ratios = [] } = endpoint;
  const { seconds = [], durationAs = 'text', adaptive = '' } = endpoint;
  const input = readInput(id);
  const named = [...Object.values(fields), ...Object.keys(fixed), ...extra];

  expect([...input.keys()]).toEqual(
    expect.arrayContaining(named.map((name) => (name === 'generate_audio' ? soundField : name))),
  );
  const assertWords = (name: string | undefined, words: readonly string[]): void => {
    const type = input.get(name ?? '') ?? 'string';
    if (type.includes('"')) for (const word of words) expect(type).toContain(`"${word}"`);
  };
  assertWords(fields.resolution, resolutions);
  assertWords(fields.ratio, adaptive === '' ? ratios : [...ratios, adaptive]);
  const listed = 'least' in seconds ? [seconds.least, seconds.most] : seconds;
  if (durationAs === 'number') expect(input.get('duration')).toContain('number');
  else
    assertWords(
      fields.duration,
      listed.map((one) => (durationAs === 'text' ? String(one) : `${one}s`)),
    );
});
