import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import opentype, { type Font } from 'opentype.js';
import { fillOutline, type Coverage } from './outline-fill.ts';

/** A character ready to paint: its shape relative to the pen on the base line, and how far the pen then moves. */
export type Glyph = { readonly shape: Coverage; readonly advance: number };

const require = createRequire(import.meta.url);

// In order of preference, read at the first use. Unifont is a pixel font, but it has every script of the basic plane.
const fontFiles = [
  () => require.resolve('@fontsource/noto-sans/files/noto-sans-latin-400-normal.woff'),
  () => require.resolve('@fontsource/noto-sans/files/noto-sans-latin-ext-400-normal.woff'),
  () => require.resolve('@fontsource/noto-sans/files/noto-sans-cyrillic-400-normal.woff'),
  () => require.resolve('@fontsource/noto-sans/files/noto-sans-greek-400-normal.woff'),
  () => require.resolve('@fontsource/noto-sans/files/noto-sans-vietnamese-400-normal.woff'),
  () => require.resolve('@fontsource/unifont/files/unifont-latin-400-normal.woff'),
];
const fonts: Font[] = [];
const glyphs = new Map<string, Glyph>();

export function findGlyph(character: string, size: number): Glyph {
  const key = `${size} ${character}`;
  const known = glyphs.get(key);
  if (known !== undefined) return known;
  const made = drawGlyph(character, size);
  glyphs.set(key, made);
  return made;
}

export function measureWidth(text: string, size: number): number {
  return Array.from(text).reduce((width, character) => width + findGlyph(character, size).advance, 0);
}

function drawGlyph(character: string, size: number): Glyph {
  const font = findFont(character);
  const glyph = font.charToGlyph(character);
  return {
    shape: fillOutline(glyph.getPath(0, 0, size).commands),
    advance: (glyph.advanceWidth * size) / font.unitsPerEm,
  };
}

function findFont(character: string): Font {
  for (const index of fontFiles.keys()) {
    const font = (fonts[index] ??= readFont(index));
    if (font.charToGlyph(character).index > 0) return font;
  }
  return fonts[0] ?? readFont(0);
}

function readFont(index: number): Font {
  const file = fontFiles[index]?.() ?? '';
  return opentype.parse(new Uint8Array(readFileSync(file)).buffer, { lowMemory: true });
}
