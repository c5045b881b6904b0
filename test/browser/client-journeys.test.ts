import path from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { createToken, formatAmount, showTask } from '../harness/records.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 120_000;
/** A video element; the tests have no types of a browser. */
interface Playable {
  readonly currentTime: number;
  play(): Promise<void>;
}

const KEPT_VALUES = 'JSON.stringify([{ ...sessionStorage }, { ...localStorage }])';
const PICTURE = path.join(import.meta.dirname, '../../deploy/local/first-video.jpg');

describeInBrowser('a client at the console', () => {
  let world: ConsoleWorld;
  let visit: Visit;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);
  beforeEach(async () => {
    visit = await world.signedIn('client', KEYS.demo);
  }, JOURNEY_TIMEOUT_MS);
  afterEach(async () => {
    const { faults } = visit;
    await visit.close();
    expect(faults).toEqual([]);
  });

  const open = (address: string) => visit.page.goto(`${world.origins.client}/console${address}`);
  const taskId = () => new URL(visit.page.url()).pathname.split('/').at(-1) ?? '';
  const countVideos = async (): Promise<number> =>
    ((await world.api('/v1/videos?limit=100')) as { readonly data: readonly unknown[] }).data.length;
  const create = async (prompt: string): Promise<void> => {
    const { page } = visit;
    await open('/try');
    await page.getByLabel('Prompt', { exact: true }).fill(prompt);
    await page.getByText(/\$\d+\.\d+ estimated/).waitFor();
    await page.getByRole('button', { name: 'Create video' }).click();
    await page.waitForURL(/\/console\/tasks\/task_/);
  };

  test(
    'sees the price before the button, watches the video being made, plays it, and reads the charge of the ledger',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).fill('a red boat at dawn [slow:3s]');
      const price = await page.getByText(/\$\d+\.\d+ estimated/).textContent();
      await page.getByRole('button', { name: 'Create video' }).click();
      await page.waitForURL(/\/console\/tasks\/task_/);
      const navigations = await page.evaluate<number>("performance.getEntriesByType('navigation').length");
      await page
        .getByText(/^(Waiting|Running) for/)
        .first()
        .waitFor();
      // nothing but the stream tells the page
      await page
        .getByText(/^Completed in/)
        .first()
        .waitFor();
      const video = page.locator('video');
      await video.evaluate((element: Playable) => element.play());
      await until(() => video.evaluate((element: Playable) => element.currentTime > 0.2));
      await page
        .getByText(/^Charged/)
        .first()
        .waitFor();
      const { settlement } = await showTask(world.program, taskId());
      const amount = price?.match(/\$[\d.]+/)?.[0] ?? '';

      expect(navigations).toBe(1);
      expect(await page.getByText(`Charged ${amount}`).count()).toBeGreaterThan(0);
      expect(Number(formatAmount(settlement?.amountNanos))).toBe(Number(amount.slice(1)));
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'adds a first frame, sees it before it is sent, and the order has it',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).fill('the boat goes on');
      await page.locator('input[type=file]').setInputFiles(PICTURE);
      await page.getByRole('img', { name: /^Preview of/ }).waitFor();
      await page.getByText(/\$\d+\.\d+ estimated/).waitFor();
      await page.getByRole('button', { name: 'Create video' }).click();
      await page.waitForURL(/\/console\/tasks\/task_/);
      await page.getByText('sent with the request').first().waitFor();
      const { order } = await showTask(world.program, taskId());

      expect(JSON.stringify(order)).toContain('MEDIA_ROLE_FIRST_FRAME');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'finds a video again by words of its prompt in the gallery, whose picture plays under the pointer and the focus',
    async () => {
      const { page } = visit;
      await create('a red kite over the dunes');
      const id = taskId();
      await page
        .getByText(/^Completed in/)
        .first()
        .waitFor();
      await create('a blue whale');
      await open('/tasks?view=gallery');
      // the words of a new task are read within seconds
      await until(async () => {
        await page.getByLabel('Words of the prompt').fill('Red kit');
        await page.getByRole('button', { name: 'Search' }).click();
        await page.waitForURL(/find=Red(\+|%20)kit/);
        await page.reload();
        return (await page.locator('.gallery a').count()) === 1;
      });
      const tile = page.getByRole('link', { name: /a red kite over the dunes/ });
      await tile.hover();
      await page.locator('video.preview').waitFor();
      await page.mouse.move(0, 0);
      await page.locator('video.preview').waitFor({ state: 'detached' });
      await tile.focus();
      await page.locator('video.preview').waitFor();
      await page.emulateMedia({ reducedMotion: 'reduce' });
      await page.locator('video.preview').waitFor({ state: 'detached' });
      await tile.press('Enter');
      await page.waitForURL(`**/tasks/${id}`);
      await page.getByRole('heading', { name: 'a red kite over the dunes' }).waitFor();
      await until(async () => (await page.title()).startsWith('a red kite over the dunes'));
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'keeps what is typed into the search and the filters while the list below them changes',
    async () => {
      const { page } = visit;
      await create('a first boat');
      await open('/tasks');
      await page.getByText('a first boat').first().waitFor();
      await page.getByLabel('Words of the prompt').fill('half a wor');
      // a filter acts when its field is left
      await page.getByLabel('Label').pressSequentially('lab');
      await world.api('/v1/videos', {
        method: 'POST',
        body: { model: 'Alpha-H3', prompt: 'one more boat', seconds: '4', size: '1280x720' },
      });
      await page.getByRole('button', { name: '1 new row' }).waitFor();

      expect(await page.getByLabel('Words of the prompt').inputValue()).toBe('half a wor');
      expect(await page.getByLabel('Label').inputValue()).toBe('lab');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'finds the fields of the search and the filters empty once the filters are cleared',
    async () => {
      const { page } = visit;
      const [search, label] = [page.getByLabel('Words of the prompt'), page.getByLabel('Label')];
      await open('/tasks');
      await label.fill('lab');
      await label.press('Tab');
      await page.waitForURL(/label=lab/);
      await search.fill('boat');
      await search.press('Enter');
      await page.waitForURL(/find=boat/);
      await page.getByRole('button', { name: 'Clear' }).click();
      await page.waitForURL((url) => url.search === '');
      await page.getByRole('button', { name: 'Clear' }).waitFor({ state: 'detached' });

      expect([await search.inputValue(), await label.inputValue()]).toEqual(['', '']);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'makes several videos from lines with the sum before the button, and a reload keeps the form',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).fill('a green boat\na green car');
      await page.getByLabel('Each line is a prompt of its own').check();
      await page.reload();
      await page.getByText('2 videos × $0.40').waitFor();
      await page.getByText('$0.80 estimated').waitFor();
      await page.getByLabel('Prompt', { exact: true }).press('Control+Enter');
      await page.getByRole('link', { name: 'See all videos' }).waitFor();

      expect(await page.locator('.makings a').allTextContents()).toEqual(['a green boat', 'a green car']);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'mends a refused line, and only what is not made yet is sent',
    async () => {
      const { page } = visit;
      const before = await countVideos();
      await open('/try');
      const prompt = page.getByLabel('Prompt', { exact: true });
      // they fail, so that no other journey waits for their pictures
      await prompt.fill('one [fail:1026]\ntwo [fail:1026]\nthree [refuse:422]\nfour [fail:1026]');
      await page.getByLabel('Each line is a prompt of its own').check();
      await page.getByRole('button', { name: 'Create 4 videos' }).click();
      await page.getByText('2 of 4 created.').waitFor();
      await page.getByText('Refused', { exact: true }).waitFor();
      await prompt.fill('one [fail:1026]\ntwo [fail:1026]\nthree [fail:1026]\nfour [fail:1026]');
      await page.getByRole('button', { name: 'Create 2 videos' }).click();
      await page.getByText('4 of 4 created.').waitFor();

      expect(await countVideos()).toBe(before + 4);
      expect(await page.getByRole('button', { name: 'All created' }).isDisabled()).toBe(true);

      await page.getByRole('button', { name: 'Begin anew' }).click();
      await page.getByRole('button', { name: 'Create 4 videos' }).waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'types another number of videos over the one that stands there',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).fill('a boat');
      const copies = page.getByLabel('Videos of each prompt');
      await copies.click();
      await page.keyboard.press('End');
      await page.keyboard.press('Backspace');
      await page.keyboard.type('4');

      expect(await copies.inputValue()).toBe('4');
      await page.getByRole('button', { name: 'Create 4 videos' }).waitFor();
      await copies.fill('');
      await page.getByLabel('Label').click();
      expect(await copies.inputValue()).toBe('4');

      const before = await countVideos();
      for (const wrong of ['0', '51', '2.5']) {
        await copies.fill(wrong);
        await page.getByLabel('Label').click();
        await page.getByRole('button', { name: 'Create videos', exact: true }).click();
        expect(await copies.inputValue()).toBe(wrong);
        await page.getByText('A whole number from 1 to 50.').waitFor();
        expect(await page.evaluate<string>('document.activeElement?.type')).toBe('number');
      }
      expect(await countVideos()).toBe(before);
      await copies.fill('2');
      await page.getByRole('button', { name: 'Create 2 videos' }).waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'leaves no draft in the browser after the sign-out, in no tab',
    async () => {
      const here = await world.signedIn('client', KEYS.demo);
      const there = await here.page.context().newPage();
      for (const [at, page] of [here.page, there].entries()) {
        await page.goto(`${world.origins.client}/console/try`);
        await page.getByLabel('Prompt', { exact: true }).fill(`a secret boat ${at}`);
        await until(async () => (await page.evaluate<string>(KEPT_VALUES)).includes('a secret boat'));
      }
      await here.page.locator('[popovertarget="account-menu"]').click();
      await here.page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await here.page.getByRole('button', { name: 'Sign in' }).waitFor();

      for (const page of [here.page, there])
        await until(async () => !(await page.evaluate<string>(KEPT_VALUES)).includes('boat'));
      await here.close();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'leaves no draft in the browser when the service cannot be reached at the sign-out',
    async () => {
      const { page, close } = await world.signedIn('client', KEYS.demo);
      await page.goto(`${world.origins.client}/console/try`);
      await page.getByLabel('Prompt', { exact: true }).fill('a secret boat');
      await until(async () => (await page.evaluate<string>(KEPT_VALUES)).includes('a secret boat'));
      await page.context().setOffline(true);
      await page.locator('[popovertarget="account-menu"]').click();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await page.getByText('the service cannot be reached').first().waitFor();

      expect(await page.evaluate<string>(KEPT_VALUES)).not.toContain('boat');
      await close();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'makes a video once, though its answer is lost and the page is loaded again',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).fill('a lonely lantern');
      await page.getByText(/\$\d+\.\d+ estimated/).waitFor();
      const before = await countVideos();
      await page.route('**/v1/video/generations', async (route) => {
        await route.fetch();
        await route.abort('connectionrefused');
      });
      await page.getByRole('button', { name: 'Create video' }).click();
      await page.getByText('No answer').waitFor();
      await page.unroute('**/v1/video/generations');
      await page.reload();
      await page.getByRole('button', { name: 'Create video' }).click();
      await page.waitForURL(/\/console\/tasks\/task_/);

      expect(await countVideos()).toBe(before + 1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'reads why a task failed, and that nothing was charged',
    async () => {
      const { page } = visit;
      await create('a failing boat [fail:1026]');
      await page
        .getByText(/^Failed after/)
        .first()
        .waitFor();
      await page.getByText('The fault is in the order.').waitFor();
      await page.getByText('Nothing was charged for it.').waitFor();

      expect(await page.getByText(/returned/).count()).toBeGreaterThan(0);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'makes an endpoint, sees a delivery fail, and sends it again',
    async () => {
      const { page } = visit;
      world.receiver.answer('/hook', 500);
      const endpoint = await world.api('/v1/webhook_endpoints', {
        method: 'POST',
        body: { name: 'hook', url: world.receiver.url('/hook'), event_types: ['video.completed'] },
      });
      await create('a boat to tell of');
      const id = taskId();
      await page
        .getByText(/^Completed in/)
        .first()
        .waitFor();
      // videos of other journeys can end meanwhile
      await until(async () => world.receiver.at('/hook').some(({ body }) => body.includes(id)));
      await open(`/webhooks/${String(endpoint.id)}`);
      world.receiver.answer('/hook', 204);
      await page.getByRole('row').filter({ hasText: id }).getByRole('link').first().click();
      await page.waitForURL(/\/console\/webhooks\/whe_[^/]+\/whd_/);
      await page.getByText('500').first().waitFor();
      const before = world.receiver.at('/hook').length;
      await page
        .getByRole('button', { name: /^Send (again|now)$/ })
        .first()
        .click();
      await until(async () => world.receiver.at('/hook').length > before);
      await page.getByText('Delivered').first().waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'is signed out without a reload when the token is revoked',
    async () => {
      const { page } = visit;
      const { id: tokenId, key } = await createToken(world.program, 'demo', '--name', 'short');
      const other = await world.signedIn('client', key);
      await other.page.goto(`${world.origins.client}/console/tasks`);
      await world.program.command('token', 'revoke', tokenId);
      await other.page.getByRole('button', { name: 'Sign in' }).waitFor();
      await other.close();
      await page.getByRole('navigation').waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'does not find what belongs to another account',
    async () => {
      await create('a private boat');
      const address = visit.page.url();
      const other = await world.signedIn('client', KEYS.other);
      await other.page.goto(address);
      await other.page.getByText('no such task').waitFor();
      const faults = [...other.faults];
      await other.close();

      expect(faults).toEqual([]);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'leaves nothing in the storage of the browser, in addresses, or within reach of scripts',
    async () => {
      const { page } = visit;
      await open('/tasks');
      const kept = await page.evaluate<string>(
        'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href])',
      );

      expect(kept).not.toContain(KEYS.demo);
      expect((JSON.parse(kept) as unknown[]).slice(0, 3)).toEqual([{}, {}, '']);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
