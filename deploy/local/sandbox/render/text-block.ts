import { findGlyph, measureWidth } from './glyphs.ts';
import { paintCoverage, type Colour, type Planes } from './planes.ts';

export type TextBlock = { readonly size: number; readonly lines: readonly string[] };
export type Box = { readonly x: number; readonly y: number; readonly width: number; readonly height: number };

const lineHeight = 1.35;
const charactersMax = 2000;
// Control characters, joiners and variation selectors have no shape of their own.
const invisible = /[\p{Cc}\u200B-\u200F\u2028-\u202E\uFE00-\uFE0F\uFEFF]/gu;
const withoutBlanks = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}`;
// A word with the blanks after it, or one character of a script that is written without blanks.
const pieces = new RegExp(String.raw`[${withoutBlanks}]|[^\s${withoutBlanks}]+\s*|\s+`, 'gu');

/** Breaks a text into lines at the first size at which it all fits. At the last size an ellipsis replaces the rest. */
export function fitText(text: string, box: Box, sizes: readonly number[]): TextBlock {
  const cut = Array.from(text).slice(0, charactersMax).join('');
  const blocks = sizes.map((size) => () => ({ size, lines: wrap(cut, size, box.width) }));
  let last: TextBlock = { size: 0, lines: [] };
  for (const block of blocks) {
    last = block();
    if (last.lines.length * last.size * lineHeight <= box.height) return last;
  }
  const room = Math.max(1, Math.floor(box.height / (last.size * lineHeight)));
  return {
    size: last.size,
    lines: last.lines.slice(0, room).map((line, index) => (index === room - 1 ? `${line.slice(0, -1)}…` : line)),
  };
}

/** Paints a block at the left edge of the box, centred between its top and bottom. */
export function paintBlock(planes: Planes, block: TextBlock, box: Box, colour: Colour): void {
  const step = block.size * lineHeight;
  const first = box.y + (box.height - step * block.lines.length) / 2 + block.size;
  block.lines.forEach((line, index) =>
    paintLine(planes, { text: line, size: block.size, x: box.x, baseline: first + index * step }, colour),
  );
}

export type Line = { readonly text: string; readonly size: number; readonly x: number; readonly baseline: number };

export function paintLine(planes: Planes, { text, size, x, baseline }: Line, colour: Colour): void {
  let pen = x;
  for (const character of text) {
    const glyph = findGlyph(character, size);
    paintCoverage(planes, glyph.shape, { x: pen, y: baseline }, colour);
    pen += glyph.advance;
  }
}

function wrap(text: string, size: number, width: number): readonly string[] {
  return text
    .split(/\r\n|\r|\n/)
    .flatMap((paragraph) => wrapParagraph(paragraph.replace(/\t/g, '  ').replace(invisible, ''), size, width));
}

function wrapParagraph(paragraph: string, size: number, width: number): readonly string[] {
  const lines: string[] = [];
  let line = '';
  let used = 0;
  for (const piece of (paragraph.match(pieces) ?? []).flatMap((word) =>
    measureWidth(word.trimEnd(), size) > width ? Array.from(word) : [word],
  )) {
    if (line !== '' && used + measureWidth(piece.trimEnd(), size) > width) {
      lines.push(line.trimEnd());
      line = '';
      used = 0;
    }
    line += piece;
    used += measureWidth(piece, size);
  }
  return [...lines, line.trimEnd()];
}
