import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { CLIENT_FILES } from '../../services/gateway/console/client-routes.ts';
import { OPERATOR_FILES } from '../../services/gateway/console/operator-routes.ts';
import { httpCaller } from '../harness/client.ts';
import { startPrefixProxy } from '../harness/prefix-proxy.ts';
import type { PrefixProxy } from '../harness/prefix-proxy.ts';
import { KEYS } from '../harness/test-config.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { fillConsole } from './fill-console.ts';

const START_TIMEOUT_MS = 180_000;
const PAGES_TIMEOUT_MS = 180_000;
const DOORS = {
  client: { files: CLIENT_FILES, key: KEYS.demo },
  operator: { files: OPERATOR_FILES, key: OPERATORS.treasurer },
} as const;

describeInBrowser('behind a proxy that serves the gateway below a path', () => {
  let proxy: PrefixProxy;
  let world: ConsoleWorld;
  let ids: Readonly<Record<string, string>>;
  beforeAll(async () => {
    proxy = await startPrefixProxy();
    world = await startConsoleWorld({}, (config) => {
      proxy.targets.set('/gw', config.gateway.listen);
      proxy.targets.set('/ops/desk', config.gateway.admin);
      const gateway = { ...config.gateway, admin_url: `${proxy.origin}/ops/desk` };
      return { ...config, public_url: `${proxy.origin}/gw`, gateway };
    });
    ids = await fillConsole(world);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    await world?.stop();
    await proxy?.stop();
  }, START_TIMEOUT_MS);

  const addressOf = (path: string): string =>
    `/console/${path.replace(/:(\w+)/g, (_all, name: string) => ids[name] ?? `no-${name}`)}`.replace(/\/$/, '');

  describe.each([
    ['takes the path off', true],
    ['leaves the path', false],
  ])('that %s', (_how, strips) => {
    beforeAll(() => {
      proxy.strips = strips;
      proxy.lost.length = 0;
    });

    test.each(['client', 'operator'] as const)(
      'a person signs in, opens every page of the %s console, and no request leaves the path',
      async (door) => {
        const { files, key } = DOORS[door];
        const visit = await world.signedIn(door, key);
        const [cookie] = await visit.page.context().cookies();
        expect(cookie?.path).toBe(door === 'client' ? '/gw/console' : '/ops/desk/console');

        for (const { path } of files.pages) {
          await visit.page.goto(world.origins[door] + addressOf(path));
          await visit.page.getByRole('heading', { level: 1 }).waitFor();
          await visit.page.getByRole('navigation').first().waitFor();
          await visit.page.waitForLoadState('load');
        }
        const links = await visit.page.getByRole('navigation').first().getByRole('link').all();
        for (const href of await Promise.all(links.map(async (link) => (await link.getAttribute('href')) ?? ''))) {
          await visit.page.locator(`nav a[href="${href}"]`).first().click();
          await visit.page.waitForURL(new URL(href, proxy.origin).href);
          await visit.page.getByRole('heading', { level: 1 }).waitFor();
        }
        await visit.page.locator('[popovertarget="account-menu"]').click();
        await visit.page.getByRole('button', { name: 'Sign out', exact: true }).click();
        await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();

        expect(visit.faults).toEqual([]);
        expect(proxy.lost).toEqual([]);
        await visit.close();
      },
      PAGES_TIMEOUT_MS,
    );

    test('the home page leads to the documents, which load below the path', async () => {
      const visit = await world.visit('client');
      await visit.page.goto(`${world.origins.client}/`);
      await visit.page.getByRole('link', { name: 'Documentation' }).click();
      await visit.page.waitForURL(`${world.origins.client}/docs`);
      await visit.page.locator('.opblock-tag').first().waitFor();
      await visit.page.goto(`${world.origins.client}/docs/`);
      await visit.page.locator('.opblock-tag').first().waitFor();

      expect(visit.faults).toEqual([]);
      expect(proxy.lost).toEqual([]);
      await visit.close();
    });
  });

  test('every address that a client is given leads below the path', async () => {
    proxy.strips = true;
    const base = world.origins.client;
    const demo = httpCaller(base, KEYS.demo);
    const id = await demo.create('/v1/videos', { model: 'Alpha-H3', prompt: 'a boat', seconds: '4', size: '1280x720' });
    const { json } = await demo.finish(id);
    const status = async (address: string): Promise<number> =>
      (await fetch(new URL(address, base), { headers: { authorization: `Bearer ${KEYS.demo}` } })).status;

    expect(json.polling_url).toBe(`/gw/v1/videos/${id}`);
    expect(await status(json.polling_url as string)).toBe(200);
    expect(json.video_url).toMatch(new RegExp(`^${base}/ximg/`));
    expect(await status(json.video_url as string)).toBe(200);
    const openapi = (await demo.call('GET', '/openapi.json')).json as { readonly servers: unknown };
    expect(openapi.servers).toEqual([{ url: base }]);
    const index = await (await fetch(`${base}/llms.txt`)).text();
    const links = [...index.matchAll(/\]\((\S+)\)/g)].map(([, link = '']) => link);
    expect(links.length).toBeGreaterThan(5);
    for (const link of links)
      expect([link, link.startsWith(`${base}/`), await status(link)]).toEqual([link, true, 200]);
    const home = (await demo.call('GET', '/')).json as { readonly links: Readonly<Record<string, string>> };
    for (const link of Object.values(home.links)) expect([link, await status(link)]).toEqual([link, 200]);
  });
});
