import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import path from 'node:path';
import { parse } from 'yaml';
import { startGatewayUnderTest } from '../../testing/gateway-under-test.ts';
import type { GatewayUnderTest } from '../../testing/gateway-under-test.ts';
import { expectText } from '../../testing/golden.ts';
import { call } from '../../testing/http-call.ts';
import { readDocument } from '../../testing/openapi/document.ts';
import type { ApiDocument } from '../../testing/openapi/document.ts';

const PUBLIC_URL = 'https://gateway.example';
const SKILL = path.resolve(import.meta.dirname, '../../../../deploy/examples/skills/reelgate-video/SKILL.md');
const INDEX_BYTES_MAX = 4096;
const FULL_BYTES_MAX = 256 * 1024;
const SKILL_LINES_MAX = 150;
/** The reasons that the skill names; `test/architecture/reasons.test.ts` has the table of all. */
const REASONS = ['idempotency_key_in_use', 'insufficient_quota'];

let under: GatewayUnderTest;
let document: ApiDocument;
let [index, full, skill]: readonly string[] = [];
const get = (target: string) => call(under.url, 'GET', target, { token: null });
beforeAll(async () => {
  under = await startGatewayUnderTest();
  document = readDocument((await get('/openapi.json')).json);
  [index, full, skill] = await Promise.all(
    ['/llms.txt', '/llms-full.txt', '/skills/reelgate-video/SKILL.md'].map(async (target) => (await get(target)).text),
  );
});
afterAll(() => under.stop());

const working = () => document.operations;
const listLinks = (text: string): string[] => [...text.matchAll(/\]\((.*?)\)/g)].map(([, link = '']) => link);

describe('llms.txt', () => {
  test('has a title, a summary and lists of links with a sentence each', () => {
    const [title, , summary, , introduction, , ...lists] = index!.trimEnd().split('\n');

    expect(title).toBe('# Reelgate');
    expect(summary).toMatch(/^> \S.*\.$/);
    expect(introduction).toContain(PUBLIC_URL);
    for (const line of lists) expect(line).toMatch(/^(|## \S.*|- \[[^\]]+\]\(https:\/\/\S+\): \S.*)$/);
  });

  test('is short', () => {
    expect(Buffer.byteLength(index!)).toBeLessThan(INDEX_BYTES_MAX);
  });

  test('links to pages that exist, and each is text, JSON or the page for people', async () => {
    const links = listLinks(index!);
    const answers = await Promise.all(links.map((link) => get(link.replace(PUBLIC_URL, ''))));

    expect(links.length).toBeGreaterThan(5);
    for (const { status, headers } of answers) {
      expect(status).toBe(200);
      expect(headers['content-type']).toMatch(/^(text\/(plain|markdown|html)|application\/json); charset=utf-8$/);
    }
  });

  test('leads to a page of each tag, which has each route of the tag', async () => {
    const pages = await Promise.all(
      listLinks(index!)
        .filter((link) => link.endsWith('.md') && link.includes('/docs/'))
        .map(async (link) => (await get(link.replace(PUBLIC_URL, ''))).text),
    );
    const headings = pages.flatMap((page) => [...page.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading));

    expect(headings.toSorted()).toEqual(
      working()
        .map(({ name }) => name)
        .toSorted(),
    );
    expect(full).toContain(pages.join('\n'));
  });
});

describe('llms-full.txt', () => {
  test('names every parameter and the members of every body', () => {
    const listNames = (schema: Readonly<Record<string, unknown>>): string[] => {
      const own = document.resolve(schema);
      const variants = [own['anyOf'], own['oneOf']].flatMap((list) => (list ?? []) as (typeof schema)[]);
      return [...Object.keys(own['properties'] ?? {}), ...variants.flatMap(listNames)];
    };
    const sections = new Map(
      full!.split(/^## /m).map((section) => [section.slice(0, section.indexOf('\n')), section] as const),
    );
    const missing = working().flatMap(({ name, parameters, requestBody }) => {
      const { schema = {} } = requestBody?.content['application/json'] ?? {};
      const named = parameters.filter(({ in: place }) => place !== 'path').map((parameter) => parameter.name);
      return [...named, ...listNames(schema)]
        .filter((one) => !sections.get(name)!.includes(`- \`${one}\``))
        .map((one) => `${name}: ${one}`);
    });

    expect(missing).toEqual([]);
    expect(Buffer.byteLength(full!)).toBeLessThan(FULL_BYTES_MAX);
  });
});

describe('the skill', () => {
  test('is the file among the examples', () => {
    expectText(SKILL, skill!);
  });

  test('has the name of its folder, says when to use it, and is short', () => {
    const [, head = '', body = ''] = /^---\n([^]*?)^---\n([^]*)$/m.exec(skill!) ?? [];
    const { name, description } = parse(head) as Readonly<Record<string, string>>;

    expect(name).toBe(path.basename(path.dirname(SKILL)));
    expect(description).toMatch(/Use it if/);
    expect(description!.length).toBeLessThan(1024);
    expect(body.split('\n').length).toBeLessThan(SKILL_LINES_MAX);
  });

  test('calls routes that exist, with bodies and headers that they take', () => {
    const calls = [...skill!.replaceAll(' \\\n', '').matchAll(/^curl .*"\$REELGATE_URL(\/[^"]*)".*$/gm)];
    for (const [line, target = ''] of calls) {
      const [, json] = /-d '(.*?)'/.exec(line) ?? [];
      const method = json === undefined ? 'GET' : 'POST';
      const operation = document.operations.find(
        ({ name }) => name === `${method} ${target.replace('$VIDEO_ID', '{task_id}')}`,
      );
      const { schema = {} } = operation?.requestBody?.content['application/json'] ?? {};
      const headers = [...line.matchAll(/-H ['"]([\w-]+):/g)].map(([, name = '']) => name);

      expect([target, operation?.method]).toEqual([target, method]);
      expect(json === undefined ? undefined : document.fault(schema, JSON.parse(json))).toBeUndefined();
      expect(['Authorization', 'Content-Type', ...operation!.parameters.map(({ name }) => name)]).toEqual(
        expect.arrayContaining(headers),
      );
    }

    expect(calls.map(([, target]) => target)).toEqual([
      expect.stringMatching(/^\/v1\/(videos\/)?models$/),
      '/v1/videos/estimate',
      '/v1/videos',
      '/v1/videos/$VIDEO_ID',
      '/v1/videos/$VIDEO_ID/content',
    ]);
  });

  test('names only fields and reasons that exist, and the bound of a create as soon as there is one', () => {
    const shown = JSON.stringify(document.operations) + full!;
    const words = [...skill!.matchAll(/`([a-z][a-z_.]+)`/g)].map(([, word = '']) => word);
    const unknown = words.filter((word) => !REASONS.includes(word) && !new RegExp(`\\b${word}\\b`).test(shown));

    expect(unknown).toEqual([]);
    expect(skill!.includes('max_amount')).toBe(full!.includes('- `max_amount`'));
  });
});
