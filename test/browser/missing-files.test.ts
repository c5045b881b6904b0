import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { KEYS } from '../harness/test-config.ts';
import { startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';

const START_TIMEOUT_MS = 180_000;
const TEST_TIMEOUT_MS = 120_000;
const MODULE = /\/pages\/client\/usage\.(js|ts)$/;
/** One preload and one import. */
const REQUESTS_MAX = 2;

describeInBrowser('a page whose file cannot be loaded', () => {
  let world: ConsoleWorld;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);

  /** Breaks the file of the page and counts how often it and the document are requested. */
  async function breakPage(page: Page): Promise<{ readonly files: () => number; readonly documents: () => number }> {
    let [files, documents] = [0, 0];
    page.on('request', (request) => {
      if (MODULE.test(request.url())) files += 1;
      if (request.isNavigationRequest()) documents += 1;
    });
    await page.route(MODULE, (route) => route.fulfill({ status: 404 }));
    return { files: () => files, documents: () => documents };
  }

  test(
    'says so once, and is shown when a person tries again',
    async () => {
      const visit = await world.signedIn('client', KEYS.demo);
      const { page } = visit;
      const counted = await breakPage(page);
      await page.goto(`${world.origins.client}/console/usage`);
      await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();

      expect(counted.documents()).toBe(1);
      expect(counted.files()).toBeLessThanOrEqual(REQUESTS_MAX);
      await page.unroute(MODULE);
      await page.getByRole('button', { name: 'Try again' }).click();
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();
      await visit.close();
    },
    TEST_TIMEOUT_MS,
  );

  test(
    'reloads once if the service has another release',
    async () => {
      const visit = await world.signedIn('client', KEYS.demo);
      const { page } = visit;
      const counted = await breakPage(page);
      await page.route(/\/console$/, (route) =>
        route.fulfill({ contentType: 'text/html', body: '<script src="/console/a/another-release/main.js"></script>' }),
      );
      await page.goto(`${world.origins.client}/console/usage`);
      await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();

      expect(counted.documents()).toBe(2);
      expect(counted.files()).toBeLessThanOrEqual(2 * REQUESTS_MAX);
      await visit.close();
    },
    TEST_TIMEOUT_MS,
  );
});
