import { expect } from '@jest/globals';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import type { Visit } from './browser.ts';

const WIDTHS = [390, 1280];
/** A wide screen too. */
export const ALL_WIDTHS = [...WIDTHS, 1920];
const COLOURS = ['light', 'dark'] as const;
const HEIGHT = 900;
/** The sizes and colours in which one run looks at a page. */
const LOOKS = 2;

/** Takes pictures of the page at drawn widths and in drawn colours, and checks that it can be read and fits. */
export async function shootEverySize(visit: Visit, name: string, widths = WIDTHS): Promise<void> {
  const looks = COLOURS.flatMap((colorScheme) => widths.map((width) => ({ colorScheme, width })));
  for (const { colorScheme, width } of drawCases(name, looks, LOOKS)) {
    await visit.page.emulateMedia({ colorScheme });
    await visit.page.setViewportSize({ width, height: HEIGHT });
    await visit.shoot(`${name}-${width}-${colorScheme}`);
    expect([await visit.axe(), await visit.isTooWide()]).toEqual([[], false]);
  }
  await visit.page.emulateMedia({ colorScheme: 'light' });
  await visit.page.setViewportSize({ width: Math.max(...widths), height: HEIGHT });
}
