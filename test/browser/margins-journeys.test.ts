import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { until } from '@reelgate/platform/testing/until';
import { CHANNEL } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { ALL_WIDTHS, shootEverySize } from './shoot-every-size.ts';
import { showTask } from '../harness/records.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 120_000;
/** A video of five seconds is charged $0.40. */
const PRICED = { upstream_prices: { 'Alpha-H3': { per_second: '0.05' } } };

describeInBrowser('an operator at the margins', () => {
  let world: ConsoleWorld;
  let visit: Visit;
  beforeAll(async () => {
    world = await startConsoleWorld(PRICED);
    const video = await world.api('/v1/videos', {
      method: 'POST',
      body: { model: 'Alpha-H3', prompt: 'a boat with a margin', seconds: '5', size: '1280x720' },
    });
    const job = await world.api('/async/v1/chat/completions', {
      method: 'POST',
      body: { model: 'sandbox-chat', messages: [{ role: 'user', content: 'hello' }] },
    });
    await until(async () => {
      const { settlement } = await showTask(world.program, String(video.id));
      const { status } = await world.api(`/get-async?id=${String(job.id)}`);
      return settlement !== undefined && status === 'completed';
    });
    visit = await world.signedIn('operator', OPERATORS.viewer);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    const faults = [...visit.faults];
    await visit.close();
    await world.stop();
    expect(faults).toEqual([]);
  }, START_TIMEOUT_MS);

  const readValue = () => visit.page.getByRole('slider').getAttribute('aria-valuetext');
  const openAt = (query: string) => visit.page.goto(`${world.origins.operator}/console/money/margins${query}`);

  test(
    'comes from the money, and sees by channel what a process has counted',
    async () => {
      const { page } = visit;
      await page.goto(`${world.origins.operator}/console/money`);
      await page.getByRole('link', { name: 'Margins over time' }).click();
      // the counts of a process are written every ten seconds
      await until(async () => {
        await page.reload();
        await page.getByRole('heading', { level: 1, name: 'Margins' }).waitFor();
        return (await page.getByRole('link', { name: CHANNEL, exact: true }).count()) === 1;
      });
      const row = page.getByRole('row').filter({ has: page.getByRole('link', { name: CHANNEL, exact: true }) });

      expect(await row.getByRole('cell').allTextContents()).toEqual([
        ...['$0.40', '–', '$0.25 of 1', '$0.15', '37.5 %', '1', '–'],
        'Over time',
      ]);
      await shootEverySize(visit, 'margins-channel', ALL_WIDTHS);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'splits by account, reads day by day with the keys, and sends the address to a colleague',
    async () => {
      const { page } = visit;
      await openAt('');
      await page.getByLabel('Split by').selectOption('account');
      await page.getByRole('link', { name: 'demo', exact: true }).waitFor();
      await page.getByRole('slider').focus();
      const today = await readValue();
      await page.keyboard.press('ArrowLeft');
      await until(async () => (await readValue()) !== today);
      await page.keyboard.press('End');
      await until(async () => (await readValue()) === today);

      expect(today).toMatch(/^\d{4}-\d\d-\d\d: \$0\.15, demo \$0\.15 estimated$/);
      expect(new URL(page.url()).search).toBe('?split=account');
      expect(await page.getByText(/^1, charged \$0\.\d+$/).count()).toBeGreaterThan(0);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'reads the margin under the pointer',
    async () => {
      const { page } = visit;
      await openAt('?split=account');
      const box = (await page.locator('.plot').boundingBox())!;
      await page.mouse.move(box.x + 2, box.y + box.height / 2);

      await until(async () => (await page.locator('.readout strong').textContent())?.endsWith(': $0.00') === true);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'sees the hours of today, of one account alone, and comes there from the page of the account',
    async () => {
      const { page } = visit;
      await page.goto(`${world.origins.operator}/console/accounts/demo`);
      await page.getByRole('link', { name: 'Its margins' }).click();
      await page.getByRole('button', { name: 'Today' }).click();
      await page.getByRole('heading', { name: 'Margins by hour' }).waitFor();

      expect(await page.getByText('Only the account demo').count()).toBe(1);
      expect(await readValue()).toMatch(/^\d{4}-\d\d-\d\d \d\d:00: /);
      await shootEverySize(visit, 'margins-account', ALL_WIDTHS);
      await page.getByRole('link', { name: 'Show all' }).click();
      await page.getByRole('link', { name: 'Over time, of demo' }).waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'downloads the file of the same split',
    async () => {
      const { page } = visit;
      await openAt('?split=account');
      const [download] = await Promise.all([
        page.waitForEvent('download'),
        page.getByRole('link', { name: 'Download as a file' }).click(),
      ]);
      const [head = '', first] = readFileSync(await download.path(), 'utf8').split('\r\n');

      expect(head).toMatch(/^day,account,is_rest,currency,requests,/);
      expect(first).toMatch(/^\d{4}-\d\d-\d\dT00:00:00\.000Z,demo,false,USD,2,0\.4,0\.15,0,0,0,1,0\.4,0\.25,1,/);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'is taught by a time without charges what will stand there',
    async () => {
      const { page } = visit;
      await openAt('?from=2020-01-01&to=2020-01-31');
      await page.getByText('Nothing was charged in this time').waitFor();

      expect(await page.getByRole('slider').count()).toBe(0);
      await shootEverySize(visit, 'margins-empty', ALL_WIDTHS);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
