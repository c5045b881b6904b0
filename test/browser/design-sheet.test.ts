import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { startBrowser } from './browser.ts';
import { describeInBrowser } from './describe-in-browser.ts';

const START_TIMEOUT_MS = 120_000;
const PAGE_TIMEOUT_MS = 60_000;
const CONSOLE = path.join(import.meta.dirname, '../../services/gateway/console');
/** No page is loaded from it; the clipboard needs one. */
const ORIGIN = 'http://127.0.0.1';
const ROW_PX = 48;
const CONTROL_PX = 36;

describeInBrowser('the sheet of the look', () => {
  let browser: Awaited<ReturnType<typeof startBrowser>>;
  let markup: string;
  beforeAll(async () => {
    // by a path, because the tests have no types of a browser
    const sheet = (await import(path.join(CONSOLE, 'testing/design-sheet.tsx'))) as { renderDesignSheet(): string };
    const style = readFileSync(path.join(CONSOLE, 'style.css'), 'utf8');
    markup = `<!doctype html><html lang="en"><title>Look</title><style>${style}</style><body>${sheet.renderDesignSheet()}</body></html>`;
    browser = await startBrowser();
  }, START_TIMEOUT_MS);
  afterAll(() => browser.stop());

  const open = async (colours: 'light' | 'dark', width: number) => {
    const visit = await browser.visit({ origin: ORIGIN, colours, width });
    await visit.page.setContent(markup);
    return visit;
  };

  test.each([
    ['light', 1280],
    ['dark', 1280],
    ['light', 390],
    ['dark', 390],
  ] as const)(
    'keeps WCAG 2.2 AA and fits its window in %s colours at %d px',
    async (colours, width) => {
      const visit = await open(colours, width);
      await visit.shoot(`design-sheet-${width}-${colours}`);
      const found = [await visit.axe(), await visit.isTooWide()];
      await visit.close();

      expect(found).toEqual([[], false]);
    },
    PAGE_TIMEOUT_MS,
  );

  test(
    'has rows and controls of one height, and fields whose controls begin at one line',
    async () => {
      const visit = await open('light', 1280);
      const measure = (selector: string, side: 'height' | 'top'): Promise<number[]> =>
        visit.page.evaluate<number[]>(
          `[...document.querySelectorAll('${selector}')].map((one) => Math.round(one.getBoundingClientRect().${side}))`,
        );
      const rows = await measure('tbody tr', 'height');
      const controls = await measure('.filters :is(input, select, button)', 'height');
      const tops = await measure('.filters :is(input, select, button)', 'top');
      await visit.close();

      expect(rows.map((height) => Math.abs(height - ROW_PX) <= 1)).toEqual(rows.map(() => true));
      expect(new Set(controls)).toEqual(new Set([CONTROL_PX]));
      expect(new Set(tops).size).toBe(1);
    },
    PAGE_TIMEOUT_MS,
  );
});
