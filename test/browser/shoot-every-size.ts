import { expect } from '@jest/globals';
import type { Visit } from './browser.ts';

const WIDTHS = [390, 1280];
/** A wide screen too. */
export const ALL_WIDTHS = [...WIDTHS, 1920];
const COLOURS = ['light', 'dark'] as const;
const HEIGHT = 900;

/** Takes a picture of the page at each width and in each colour, and checks that it can be read and fits. */
export async function shootEverySize(visit: Visit, name: string, widths = WIDTHS): Promise<void> {
  for (const colorScheme of COLOURS) {
    await visit.page.emulateMedia({ colorScheme });
    for (const width of widths) {
      await visit.page.setViewportSize({ width, height: HEIGHT });
      await visit.shoot(`${name}-${width}-${colorScheme}`);
      expect([await visit.axe(), await visit.isTooWide()]).toEqual([[], false]);
    }
  }
  await visit.page.emulateMedia({ colorScheme: 'light' });
}
