import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { renderDesignSheet } from './testing/design-sheet.tsx';

const read = (file: string): string => readFileSync(path.join(import.meta.dirname, file), 'utf8');
const STYLES = ['style.css', 'client.css', 'operator.css'] as const;
const ROOT = /:root \{(?<body>[^}]*)\}/g;
const TOKEN = /(?<name>--[\w-]+):\s*(?<value>[^;]+);/g;

type Tokens = ReadonlyMap<string, string>;

/** The values of the light theme, and those that the dark theme changes. */
function readTokens(): readonly [Tokens, Tokens] {
  const [light = '', dark = ''] = [...read('style.css').matchAll(ROOT)].map(({ groups }) => groups?.['body'] ?? '');
  const parse = (body: string): Tokens =>
    new Map([...body.matchAll(TOKEN)].map(({ groups }) => [groups?.['name'] ?? '', groups?.['value']?.trim() ?? '']));
  return [parse(light), parse(dark)];
}

describe('the page of the look', () => {
  const [light, dark] = readTokens();
  const rows = read('design.md').match(/^\| `--.*$/gm) ?? [];

  test('has every value of the style and no other, in both themes', () => {
    const told = rows.map((row) => row.split('|').map((cell) => cell.trim().replaceAll('`', '')));
    const expected = [...light].map(([name, value]) => [name, value, dark.get(name) ?? '']);

    expect(light.size).toBeGreaterThan(40);
    expect(told.map(([, name, value, inDark = '']) => [name, value, /^#|rgb|px/.test(inDark) ? inDark : ''])).toEqual(
      expect.arrayContaining(expected),
    );
    expect(told.map(([, name]) => name).toSorted()).toEqual([...light.keys()].toSorted());
  });

  test('is kept by every style: two weights, four sizes, and no colour of its own', () => {
    const rules = STYLES.map((file) => read(file).replaceAll(ROOT, '')).join('\n');
    const values = (property: string): string[] =>
      [...rules.matchAll(new RegExp(`\\b${property}:\\s*([^;]+);`, 'g'))].map(([, value = '']) => value.trim());

    expect(new Set(values('font-size'))).toEqual(
      new Set(['inherit', ...['small', 'text', 'title', 'large'].map((size) => `var(--size-${size})`)]),
    );
    expect(new Set(values('font-weight'))).toEqual(new Set(['var(--weight)', 'var(--weight-strong)']));
    expect(rules.match(/#[0-9a-f]{3,8}\b|\brgba?\(|\bhsla?\(/gi) ?? []).toEqual([]);
  });

  test.each([
    'page-title',
    'figures',
    'stacks',
    'filter-bar',
    'skeleton rows',
    'skeleton cards',
    'skeleton text',
    'empty',
    'refusal',
    'badge good',
    'state in_progress',
    'tabs',
    'field',
    'main',
    'danger',
    'quiet',
  ])('is drawn by the sheet with the part %s', (style) => {
    expect(renderDesignSheet()).toMatch(new RegExp(`class="(?:[^"]* )?${style}(?: [^"]*)?"`));
  });

  test('changes in the dark every colour that can be seen', () => {
    const colours = [...light].filter(([, value]) => /#|rgb/.test(value)).map(([name]) => name);

    expect(colours.filter((name) => !dark.has(name))).toEqual(['--screen']);
  });
});

describe('the contrast of the colours', () => {
  const [light, dark] = readTokens();
  const luminance = (hex: string): number => {
    const [red = 0, green = 0, blue = 0] = [1, 3, 5]
      .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
      .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (tokens: Tokens, [over, under]: readonly [string, string]): number => {
    const [high = 0, low = 0] = [over, under]
      .map((name) => luminance(tokens.get(name) ?? ''))
      .toSorted((a, b) => b - a);
    return (high + 0.05) / (low + 0.05);
  };
  const TEXTS = [
    ...['--text', '--quiet', '--accent', '--good', '--bad', '--busy'].flatMap((over) => [
      [over, '--ground'] as const,
      [over, '--raised'] as const,
    ]),
    ...['--accent', '--good', '--bad', '--busy'].map((over) => [over, `${over}-tint`] as const),
    ...['--accent-tint', '--bad-tint', '--busy-tint'].map((under) => ['--text', under] as const),
    ['--on-accent', '--accent'] as const,
  ];

  test.each([
    ['light', light],
    ['dark', new Map([...light, ...dark])],
  ])('of texts is 4.5 and that of edges 3 in the %s theme', (_theme, tokens) => {
    expect(TEXTS.filter((pair) => contrast(tokens, pair) < 4.5)).toEqual([]);
    expect(contrast(tokens, ['--edge', '--ground'])).toBeGreaterThanOrEqual(3);
  });
});
