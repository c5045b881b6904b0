import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { BrowserContext } from 'playwright-core';
import { DOOR_FILES } from '../../services/gateway/src/console-server/assets/select-files.ts';
import type { Door } from '../../services/gateway/console/routes.ts';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { fillConsole } from './fill-console.ts';

const START_TIMEOUT_MS = 180_000;
const PAGE_TIMEOUT_MS = 120_000;
const FIRST_LOAD_BYTES_MAX = 60 * 1024;
const FIRST_LOAD_REQUESTS_MAX = 60;
const LCP_MS_MAX = 1000;
/** The sum of what moves by itself while a page loads, as browsers measure it. */
const SHIFTS_MAX = 0.02;
/** On a slow machine a page takes longer, by at most this many times what the page of the sign-in takes on it. */
const SIGN_INS_MAX = 4;
const SETTLED_MS = 400;

const KEY_OF: Readonly<Record<Door, string>> = { client: KEYS.demo, operator: OPERATORS.treasurer };
const VARIANTS = [
  ['light', { colours: 'light', width: 1280 }],
  ['dark', { colours: 'dark', width: 1280 }],
  ['320 px', { colours: 'light', width: 320 }],
  ['200 % zoom', { colours: 'light', width: 640 }],
  ['1920 px', { colours: 'dark', width: 1920 }],
] as const;
/** The variants in which one run opens a page. */
const VARIANTS_DRAWN = 1;

describeInBrowser('every page of the console', () => {
  let world: ConsoleWorld;
  let ids: Readonly<Record<string, string>>;
  let signInMs: number;
  beforeAll(async () => {
    world = await startConsoleWorld();
    ids = await fillConsole(world);
    const visit = await world.visit('client');
    await visit.page.goto(`${world.origins.client}/console`);
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
    signInMs = await lcpOf(visit);
    await visit.close();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);

  const pages = (['client', 'operator'] as const).flatMap((door) =>
    DOOR_FILES[door].pages.map(({ path }) => [door, path] as const),
  );
  const variantsOf = (door: Door, path: string): readonly string[] =>
    drawCases(`${door} ${path}`, VARIANTS, VARIANTS_DRAWN).map(([variant]) => variant);
  const addressOf = (path: string): string => {
    const filled = path.replace(/:(\w+)/g, (_all, name: string) => ids[name] ?? `no-${name}`);
    return filled === '' ? '/console' : `/console/${filled}`;
  };
  const lcpOf = ({ page }: Visit): Promise<number> =>
    page.evaluate<number>(`new Promise((resolve) => {
      new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
        .observe({ type: 'largest-contentful-paint', buffered: true });
    })`);
  const shiftsOf = ({ page }: Visit): Promise<number> =>
    page.evaluate<number>(`new Promise((resolve) => {
      const shifts = [];
      new PerformanceObserver((list) => shifts.push(...list.getEntries()))
        .observe({ type: 'layout-shift', buffered: true });
      setTimeout(() => resolve(shifts.reduce((sum, { value }) => sum + value, 0)), 50);
    })`);
  const open = async (visit: Visit, door: Door, path: string): Promise<void> => {
    await visit.page.goto(world.origins[door] + addressOf(path));
    await visit.page.getByRole('heading', { level: 1 }).waitFor();
    // the one read of the view, and what it draws
    await visit.page.waitForLoadState('load');
    await visit.page.waitForTimeout(SETTLED_MS);
  };

  describe.each(VARIANTS)('in %s', (variant, options) => {
    const visits = new Map<Door, Visit>();
    beforeAll(async () => {
      for (const door of ['client', 'operator'] as const)
        visits.set(door, await world.signedIn(door, KEY_OF[door], options));
    }, START_TIMEOUT_MS);
    afterAll(() => Promise.all([...visits.values()].map((visit) => visit.close())));

    test.each(pages.filter(([door, path]) => variantsOf(door, path).includes(variant)))(
      'the %s page "%s" keeps WCAG 2.2 AA, fits its window, and reports no fault',
      async (door, path) => {
        const visit = visits.get(door)!;
        await open(visit, door, path);
        await visit.shoot(
          `${door}-${path === '' ? 'first' : path.replaceAll(/[/:]+/g, '-')}-${variant.replaceAll(/\W+/g, '-')}`,
        );

        expect([await visit.axe(), await visit.isTooWide(), visit.faults]).toEqual([[], false, []]);
      },
      PAGE_TIMEOUT_MS,
    );
  });

  /** The cookies of each door, of one sign-in. */
  const cookies = new Map<Door, Awaited<ReturnType<BrowserContext['cookies']>>>();
  beforeAll(async () => {
    for (const door of ['client', 'operator'] as const) {
      const visit = await world.signedIn(door, KEY_OF[door]);
      cookies.set(door, await visit.page.context().cookies());
      await visit.close();
    }
  }, START_TIMEOUT_MS);

  test.each(pages)(
    'the %s page "%s" reads one view, and its first load is small, quick and does not move',
    async (door, path) => {
      const fresh = await world.visit(door);
      await fresh.page.context().addCookies(cookies.get(door)!);
      await open(fresh, door, path);
      const { requests, bytes } = await fresh.traffic();
      const lcpMs = await lcpOf(fresh);
      const shifts = await shiftsOf(fresh);
      // the price of an order is asked for with a POST
      const reads = fresh.apiReads().filter((read) => /^GET /.test(read) && !/\/(me|content)$/.test(read));
      await fresh.close();

      expect(requests).toBeLessThanOrEqual(FIRST_LOAD_REQUESTS_MAX);
      expect(bytes).toBeLessThanOrEqual(FIRST_LOAD_BYTES_MAX);
      expect(shifts).toBeLessThan(SHIFTS_MAX);
      expect(lcpMs).toBeLessThan(Math.max(LCP_MS_MAX, SIGN_INS_MAX * signInMs));
      expect(new Set(reads).size).toBeLessThanOrEqual(1);
    },
    PAGE_TIMEOUT_MS,
  );
});
