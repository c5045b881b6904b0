import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { readFileSync } from 'node:fs';
import { until } from '@reelgate/platform/testing/until';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { shootEverySize } from './shoot-every-size.ts';
import { showTask } from '../harness/records.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 120_000;
const PRICE = /\$\d+\.\d+/;

describeInBrowser('a client at the usage of its account', () => {
  let world: ConsoleWorld;
  let visit: Visit;
  let id: string;
  beforeAll(async () => {
    world = await startConsoleWorld();
    const task = await world.api('/v1/videos', {
      method: 'POST',
      body: { model: 'Alpha-H3', prompt: 'a boat to pay for', seconds: '5', size: '1280x720' },
    });
    id = String(task.id);
    await until(async () => (await showTask(world.program, id)).settlement !== undefined);
    visit = await world.signedIn('client', KEYS.demo);
    await visit.page.goto(`${world.origins.client}/console/usage`);
    await visit.page.getByRole('slider').waitFor();
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    const faults = [...visit.faults];
    await visit.close();
    await world.stop();
    expect(faults).toEqual([]);
  }, START_TIMEOUT_MS);

  const readValue = () => visit.page.getByRole('slider').getAttribute('aria-valuetext');
  const readFile = async (button: string): Promise<string> => {
    const [download] = await Promise.all([
      visit.page.waitForEvent('download'),
      visit.page.getByRole('link', { name: button }).click(),
    ]);
    return readFileSync(await download.path(), 'utf8');
  };

  test(
    'moves from day to day with the keys, and hears what each day cost',
    async () => {
      const { page } = visit;
      await page.getByRole('slider').focus();
      const today = await readValue();
      await page.keyboard.press('ArrowLeft');
      await until(async () => (await readValue()) !== today);
      await page.keyboard.press('End');

      await until(async () => (await readValue()) === today);
      expect(today).toMatch(/^\d{4}-\d\d-\d\d: \$\d+\.\d+, Alpha-H3 \$\d+\.\d+$/);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'reads the amounts of the day under the pointer',
    async () => {
      const { page } = visit;
      const over = page.locator('.plot');
      const box = (await over.boundingBox())!;
      await page.mouse.move(box.x + 2, box.y + box.height / 2);
      const first = (await readValue())!;
      await page.mouse.move(box.x + box.width - 2, box.y + box.height / 2);

      await until(async () => (await readValue()) !== first);
      expect(await page.locator('.readout strong').textContent()).toMatch(PRICE);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'sees the sums, the money that is left, and how long it lasts',
    async () => {
      const { page } = visit;
      await page.getByLabel('Show').selectOption('sum');
      await page.getByText('At the pace of the last seven days').waitFor();

      expect(await page.getByText('Left to spend').count()).toBe(1);
      expect(new URL(page.url()).searchParams.get('show')).toBe('sum');
      await shootEverySize(visit, 'usage-sum');
      await page.getByLabel('Show').selectOption('days');
      await shootEverySize(visit, 'usage-days');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'downloads the table, and every charge with its task',
    async () => {
      const table = await readFile('Download this table');
      const items = await readFile('Download every charge');

      expect(table).toMatch(/^day,model,amount,currency,/);
      expect(table).toMatch(/\r\n\d{4}-\d\d-\d\d,Alpha-H3,/);
      expect(items.split('\r\n')[1]).toContain(`,${id},Alpha-H3,`);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'keeps a date that is half typed, acts on a whole one, and gets the old one back when it leaves a half one',
    async () => {
      const { page } = visit;
      const first = page.locator('#from');
      const readFirst = async () => [await first.inputValue(), new URL(page.url()).searchParams.get('from')];
      await page.goto(`${world.origins.client}/console/usage`);
      const [whole, last] = [await first.inputValue(), await page.locator('#to').inputValue()];
      await first.focus();
      await page.keyboard.press('Backspace');
      const half = await readFirst();
      await page.keyboard.press('Shift+Tab');
      const left = await readFirst();
      await first.fill(last);
      await page.waitForURL(new RegExp(`from=${last}`));

      expect({ half, left }).toEqual({ half: ['', null], left: [whole, null] });
    },
    JOURNEY_TIMEOUT_MS,
  );
});
