import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Cookie, Page, Route } from 'playwright-core';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';

const START_TIMEOUT_MS = 180_000;
const TEST_TIMEOUT_MS = 120_000;
/** For a loop of requests to show itself. */
const QUIET_MS = 1000;
/** One preload and one import. */
const REQUESTS_MAX = 2;
/** The pages with a module of their own, in the two consoles. */
const DOORS = {
  client: { key: KEYS.demo, address: '/usage', module: 'pages/client/usage', heading: 'Usage' },
  operator: { key: OPERATORS.operator, address: '/channels', module: 'pages/operator/channels', heading: 'Channels' },
} as const;
type DoorName = keyof typeof DOORS;

const moduleText = (text: string) => (route: Route) => route.fulfill({ contentType: 'text/javascript', body: text });
/** How a file can be broken. */
const FAULTS: Readonly<Record<string, (route: Route) => Promise<void>>> = {
  'is not found': (route) => route.fulfill({ status: 404 }),
  'is answered with 500': (route) => route.fulfill({ status: 500 }),
  'is answered with 503': (route) => route.fulfill({ status: 503 }),
  'does not arrive': (route) => route.abort('connectionreset'),
  'has a syntax error': moduleText('export const page = ;'),
  'throws when it runs': moduleText('throw new Error("broken on purpose");'),
  'lacks its page': moduleText('export const nothing = 1;'),
};
/** Everything is tried at one door. The other one shares the code, so it shows that its own files do the same. */
const FAULTS_AT: Readonly<Record<DoorName, readonly string[]>> = {
  client: Object.keys(FAULTS),
  operator: ['is not found', 'throws when it runs'],
};
const SHARED_AT: Readonly<Record<DoorName, readonly string[]>> = {
  client: ['main', 'frame', 'routes', 'words', 'packages/preact'],
  operator: ['main'],
};
/** The cases of a table that one run tries at a door. */
const CASES_DRAWN = 2;
const fileOf = (name: string): RegExp => new RegExp(`/${name}\\.(js|tsx?)$`);
const STYLE = /\/style\.css$/;

interface Counts {
  readonly files: () => number;
  readonly documents: () => number;
}

describeInBrowser('a file of the console that cannot be loaded', () => {
  let world: ConsoleWorld;
  const cookies = {} as Record<DoorName, Cookie[]>;
  beforeAll(async () => {
    world = await startConsoleWorld();
    for (const door of ['client', 'operator'] as const) {
      const visit = await world.signedIn(door, DOORS[door].key);
      cookies[door] = await visit.page.context().cookies();
      await visit.close();
    }
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);

  /** Counts how often a file and the document are requested. */
  function countRequests(page: Page, file: RegExp): Counts {
    let [files, documents] = [0, 0];
    page.on('request', (request) => {
      if (file.test(new URL(request.url()).pathname)) files += 1;
      if (request.isNavigationRequest()) documents += 1;
    });
    return { files: () => files, documents: () => documents };
  }

  /** A fresh tab of somebody who is signed in. */
  async function openTab(door: DoorName): Promise<Visit> {
    const visit = await world.visit(door);
    await visit.page.context().addCookies(cookies[door]);
    return visit;
  }

  async function withBroken(
    door: DoorName,
    file: RegExp,
    fault: (route: Route) => Promise<void>,
    check: (page: Page, counts: Counts) => Promise<void>,
  ): Promise<void> {
    const visit = await openTab(door);
    const { page } = visit;
    await page.route(file, fault);
    const counts = countRequests(page, file);
    await page.goto(`${world.origins[door]}/console${DOORS[door].address}?kept=1`);
    await check(page, counts);
    await visit.close();
  }

  /** Mends the file, and lets the person at the page try again. */
  async function tryAgain(page: Page, name: string, door: DoorName): Promise<void> {
    await page.unroute(fileOf(name));
    await page.getByText('Try again').click();
    await page.getByRole('heading', { level: 1, name: DOORS[door].heading }).waitFor();
    expect(new URL(page.url()).search).toBe('?kept=1');
  }

  describe.each(['client', 'operator'] as const)('at the door of the %s', (door) => {
    const { module } = DOORS[door];

    test.each(drawCases(`faults ${door}`, FAULTS_AT[door], CASES_DRAWN))(
      'a page whose module %s says so once, and is shown when a person tries again',
      async (what) => {
        await withBroken(door, fileOf(module), FAULTS[what]!, async (page, counts) => {
          await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect(counts.documents()).toBe(1);
          expect(counts.files()).toBeLessThanOrEqual(REQUESTS_MAX);
          expect(await page.getByRole('navigation').count()).toBe(1);
          await tryAgain(page, module, door);
        });
      },
      TEST_TIMEOUT_MS,
    );

    test.each(drawCases(`shared ${door}`, [...SHARED_AT[door], door, `${door}-routes`], CASES_DRAWN))(
      'where the file %s is missing nothing draws, and the tab says so with a way to try again',
      async (name) => {
        await withBroken(door, fileOf(name), FAULTS['is not found']!, async (page, counts) => {
          await page.getByRole('alert').getByText('A file of the console cannot be loaded.').waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect([counts.documents(), await page.getByRole('navigation').count()]).toEqual([1, 0]);
          expect(counts.files()).toBeLessThanOrEqual(REQUESTS_MAX);
          await tryAgain(page, name, door);
        });
      },
      TEST_TIMEOUT_MS,
    );

    test.each([`start-${door}`, 'state/load-page'])(
      'where the file %s is missing the text of the shell appears by itself',
      async (name) => {
        await withBroken(door, fileOf(name), FAULTS['is not found']!, async (page, counts) => {
          expect(await page.getByText('Try again').isVisible()).toBe(false);
          await page.getByText('A file of the console has not arrived.').waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect(counts.documents()).toBe(1);
          expect(counts.files()).toBeLessThanOrEqual(REQUESTS_MAX);
          await tryAgain(page, name, door);
        });
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'a part that the page imports is told like the page itself',
      async () => {
        const part = 'parts/data-table';
        await withBroken(door, fileOf(part), FAULTS['is not found']!, async (page, counts) => {
          await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect(counts.documents()).toBe(1);
          expect(counts.files()).toBeLessThanOrEqual(REQUESTS_MAX);
          await tryAgain(page, part, door);
        });
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'without its style the console is plain, and works',
      async () => {
        await withBroken(door, STYLE, FAULTS['is not found']!, async (page, counts) => {
          await page.getByRole('heading', { level: 1, name: DOORS[door].heading }).waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect([counts.documents(), counts.files()]).toEqual([1, 1]);
        });
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'a browser that keeps nothing never reloads by itself',
      async () => {
        const visit = await openTab(door);
        const { page } = visit;
        await page.addInitScript(
          "Object.defineProperty(window, 'sessionStorage', { get: () => { throw new Error('refused'); } });",
        );
        await page.route(fileOf(module), FAULTS['is not found']!);
        await page.route(/\/console$/, (route) =>
          route.fulfill({ contentType: 'text/html', body: '<script src="/console/a/another/main.js"></script>' }),
        );
        const counts = countRequests(page, fileOf(module));
        await page.goto(`${world.origins[door]}/console${DOORS[door].address}`);
        await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();
        await page.waitForTimeout(QUIET_MS);

        expect(counts.documents()).toBe(1);
        await visit.close();
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'a new release is loaded once, at the address where the reader is',
      async () => {
        const visit = await openTab(door);
        const { page } = visit;
        const release = await serveAsOlder(page, world.origins[door]);
        await page.goto(`${world.origins[door]}/console`);
        await page.getByRole('navigation').waitFor();
        const counts = countRequests(page, fileOf(module));
        release.end();
        await page.getByRole('navigation').getByRole('link', { name: DOORS[door].heading }).click();
        await page.getByRole('heading', { level: 1, name: DOORS[door].heading }).waitFor();
        await page.waitForTimeout(QUIET_MS);

        expect(new URL(page.url()).pathname).toBe(`/console${DOORS[door].address}`);
        expect(counts.documents()).toBe(1);
        expect(counts.files()).toBeLessThanOrEqual(2 * REQUESTS_MAX);
        await visit.close();
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'a release whose file is broken is loaded once, and then told',
      async () => {
        const visit = await openTab(door);
        const { page } = visit;
        const counts = countRequests(page, fileOf(module));
        await page.route(fileOf(module), FAULTS['is not found']!);
        await page.route(/\/console$/, (route) =>
          route.fulfill({ contentType: 'text/html', body: '<script src="/console/a/another/main.js"></script>' }),
        );
        await page.goto(`${world.origins[door]}/console${DOORS[door].address}`);
        await page.getByRole('alert').getByText('This page cannot be loaded').waitFor();
        await page.waitForTimeout(QUIET_MS);

        expect(counts.documents()).toBe(2);
        expect(counts.files()).toBeLessThanOrEqual(2 * REQUESTS_MAX);
        await visit.close();
      },
      TEST_TIMEOUT_MS,
    );

    test(
      'a page that throws while it is drawn says so, and the other pages work',
      async () => {
        const throwing = "export const page = () => { throw new Error('broken on purpose'); };";
        await withBroken(door, fileOf(module), moduleText(throwing), async (page, counts) => {
          await page.getByRole('alert').getByText('This page has failed').waitFor();
          await page.waitForTimeout(QUIET_MS);

          expect([counts.documents(), await page.getByRole('navigation').count()]).toEqual([1, 1]);
          await page.getByRole('navigation').getByRole('link', { name: 'Tasks' }).click();
          await page.getByRole('heading', { level: 1, name: 'Tasks' }).waitFor();
          await page.goBack();
          await page.getByRole('alert').getByText('This page has failed').waitFor();
          await tryAgain(page, module, door);
        });
      },
      TEST_TIMEOUT_MS,
    );
  });
});

/** Serves the console under the address of an older release, until that release ends and its files are gone. */
async function serveAsOlder(page: Page, origin: string): Promise<{ end(): void }> {
  const older = 'a'.repeat(16);
  const shell = await (await fetch(`${origin}/console`)).text();
  const [, current = ''] = /\/console\/a\/([0-9a-f]+)\//.exec(shell) ?? [];
  let isServed = true;
  await page.route(
    (url) => url.pathname.startsWith(`/console/a/${older}/`),
    async (route) => {
      if (!isServed) await route.fulfill({ status: 404 });
      else await route.fulfill({ response: await route.fetch({ url: route.request().url().replace(older, current) }) });
    },
  );
  await page.route(
    (url) => /^\/console(\/(?!a\/|api\/).*)?$/.test(url.pathname),
    async (route) => {
      if (!isServed) {
        await route.continue();
        return;
      }
      const response = await route.fetch();
      const body = (await response.text()).replaceAll(current, older);
      const [, map = ''] = /<script type="importmap">(.*?)<\/script>/.exec(body) ?? [];
      const digest = createHash('sha256').update(map).digest('base64');
      const policy = (response.headers()['content-security-policy'] ?? '').replace(
        /'sha256-[^']+'/,
        `'sha256-${digest}'`,
      );
      const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = response.headers();
      await route.fulfill({ status: 200, body, headers: { ...headers, 'content-security-policy': policy } });
    },
  );
  return {
    end: () => {
      isServed = false;
    },
  };
}
