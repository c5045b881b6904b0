import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { shootEverySize } from './shoot-every-size.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 180_000;
/** Two reads try again after 1.2 to 2 s, 2.4 to 4 s, and 4.8 to 8 s. */
const TRIES_SEEN = 6;
const TRIED_MS_MIN = 3000;
/** Longer than a page goes without asking whether the server is there. */
const QUIET_MS = 40_000;
/** What a browser logs of a server that is gone or has a fault. */
const PROVOKED = /Failed to load resource: (the server responded with a status of 50[23]|net::ERR_)/;

const KEY_OF = { client: KEYS.demo, operator: OPERATORS.operator } as const;
const PAGES = {
  client: { address: '', heading: 'Home', text: 'Balance', next: 'Tasks' },
  operator: { address: '', heading: 'Now', text: 'Unfinished tasks', next: 'Channels' },
} as const;

describeInBrowser('a page whose server', () => {
  let world: ConsoleWorld;
  let visit: Visit;
  let page: Page;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);

  const open = async (door: 'client' | 'operator'): Promise<void> => {
    // a test before may have stopped it
    if (world.program.pids().length === 0) await world.program.start();
    visit = await world.signedIn(door, KEY_OF[door]);
    ({ page } = visit);
    await page.getByRole('heading', { level: 1, name: PAGES[door].heading }).waitFor();
    await page.getByText(PAGES[door].text).first().waitFor();
    // as text, because the tests have no types of a browser
    await page.evaluate(`spoken = [];
      new MutationObserver(() => spoken.push(document.querySelector('.outage-place').textContent.trim()))
        .observe(document.querySelector('.outage-place'), { childList: true, subtree: true, characterData: true });`);
  };
  const banner = () => page.getByRole('status').filter({ hasText: /server/ });
  const loads = () => page.evaluate<number>("performance.getEntriesByType('navigation').length");
  afterEach(async () => {
    const faults = visit.faults.filter((fault) => !PROVOKED.test(fault));
    await visit.close();
    expect(faults).toEqual([]);
  });

  describe.each(drawCases('doors', ['client', 'operator'] as const, 1))('is gone, of the %s console,', (door) => {
    beforeEach(() => open(door), JOURNEY_TIMEOUT_MS);

    test(
      'says since when in one banner, marks what is old, and is up to date again by itself',
      async () => {
        await world.program.stop();
        await banner()
          .getByText(/^▲ No answer from the server since \d\d:\d\d:\d\d; what you see is from then\.$/)
          .waitFor();
        const [said] = await banner().allTextContents();
        await page.getByText(/^As of \d\d:\d\d:\d\d$/).waitFor();
        const old = page.locator('.loaded.old');
        expect([await banner().count(), (await old.getByText(PAGES[door].text).count()) > 0]).toEqual([1, true]);
        await page.getByRole('button', { name: 'No updates' }).waitFor();
        await shootEverySize(visit, `gone-${door}`);

        await page.getByRole('navigation').getByRole('link', { name: PAGES[door].next, exact: true }).click();
        await page.getByText(/Nothing of this page could be read yet|This page cannot be loaded/).waitFor();
        const whileGone = await banner().allTextContents();
        await shootEverySize(visit, `gone-${door}-next`);
        await world.program.start();
        await page.getByRole('heading', { level: 1, name: PAGES[door].next }).waitFor();
        await until(async () => (await banner().count()) === 0);
        await page.locator('.loaded:not(.old)').first().waitFor({ state: 'attached' });
        await page.getByRole('button', { name: 'Live' }).waitFor();

        expect(whileGone).toEqual([said]);
      },
      JOURNEY_TIMEOUT_MS,
    );

    test(
      'comes back without a reload, and a screen reader hears of each state once',
      async () => {
        await world.program.stop();
        await banner().waitFor();
        visit.apiReads();
        const tries: string[] = [];
        const since = performance.now();
        await until(async () => tries.push(...visit.apiReads()) >= TRIES_SEEN);
        const triedMs = performance.now() - since;
        await world.program.start();
        await until(async () => (await banner().count()) === 0);
        await page.getByRole('button', { name: 'Live' }).waitFor();
        const spoken = await page.evaluate<string[]>('spoken');

        // the view and the session, at growing distances
        expect(triedMs).toBeGreaterThan(TRIED_MS_MIN);
        // a slow machine also shows a server that starts, which is another thing to hear
        const kinds = new Set(spoken.map((text) => text.replace(/ since .*/, '')));
        expect([...kinds]).toContain('▲ No answer from the server');
        expect(new Set(spoken).size).toBe(kinds.size);
        expect(spoken.at(-1)).toBe('');
        expect([await page.locator('.old').count(), await loads()]).toEqual([0, 1]);
      },
      JOURNEY_TIMEOUT_MS,
    );
  });

  test(
    'answers with errors says which, and goes on by itself when it is over',
    async () => {
      await open('client');
      await page.route('**/console/api/home', (route) => route.fulfill({ status: 503, json: {} }));
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await banner()
        .getByText(/^▲ The server answers with an error \(503\) since \d\d:\d\d:\d\d; what you see is from then\.$/)
        .waitFor();
      await shootEverySize(visit, 'failing-client');
      expect([
        await page.locator('.loaded.old').count(),
        await page.getByRole('alert').filter({ hasText: /\S/ }).count(),
      ]).toEqual([1, 0]);
      await page.unroute('**/console/api/home');
      await until(async () => (await banner().count()) === 0);

      expect([await page.locator('.old').count(), await loads()]).toEqual([0, 1]);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'answers with errors when it comes back is not back until it answers well',
    async () => {
      await open('client');
      await page.route('**/console/api/**', (route) => route.abort());
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await banner()
        .getByText(/No answer from the server/)
        .waitFor();
      await page.route('**/pages/client/usage*', (route) => route.abort());
      await page.getByRole('navigation').getByRole('link', { name: 'Usage' }).click();
      await page.getByText('This page cannot be loaded').waitFor();
      await page.unrouteAll();
      await page.route('**/console/api/**', (route) => route.fulfill({ status: 503, json: {} }));
      await banner()
        .getByText(/The server answers with an error \(503\)/)
        .waitFor();
      const before = await loads();
      await page.unrouteAll();
      await page.getByRole('heading', { level: 1, name: 'Usage' }).waitFor();

      expect([before, await banner().count()]).toEqual([1, 0]);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'is gone is noticed on a page that reads nothing by itself',
    async () => {
      await open('client');
      await page.clock.install();
      await page.goto(`${world.origins.client}/console/usage`);
      await page.getByText('Nothing was charged in this period').first().waitFor();
      await page.route('**/console/api/**', (route) => route.abort());
      await page.clock.fastForward(QUIET_MS);
      await banner()
        .getByText(/No answer from the server since/)
        .waitFor();

      expect(await page.locator('.loaded.old').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'is gone when the page begins says so, and begins once it is back',
    async () => {
      await open('operator');
      await page.route('**/console/api/me', (route) => route.abort());
      await page.reload();
      await banner().getByText('No answer from the server.').waitFor();
      await shootEverySize(visit, 'gone-at-the-start');
      await page.unroute('**/console/api/me');
      await page.getByRole('heading', { level: 1, name: 'Now' }).waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'ends its session shows the sign-in, as before',
    async () => {
      await open('client');
      await page.route('**/console/api/home', (route) => route.fulfill({ status: 401, json: {} }));
      await page.evaluate("document.dispatchEvent(new Event('visibilitychange'))");
      await page.getByRole('button', { name: 'Sign in' }).waitFor();

      expect(await banner().count()).toBe(0);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
