import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@reelgate/platform/testing/until';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { shootEverySize } from './shoot-every-size.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 120_000;

describeInBrowser('a client that accounts by labels', () => {
  let world: ConsoleWorld;
  let visit: Visit;
  beforeAll(async () => {
    world = await startConsoleWorld();
    visit = await world.signedIn('client', KEYS.demo);
  }, START_TIMEOUT_MS);
  afterAll(async () => {
    // the browser logs the refusal of the malformed label
    const faults = visit.faults.filter((fault) => !/status of 400/.test(fault));
    await visit.close();
    await world.stop();
    expect(faults).toEqual([]);
  }, START_TIMEOUT_MS);

  const open = (address: string) => visit.page.goto(`${world.origins.client}/console${address}`);
  const create = async (prompt: string, label: string): Promise<void> => {
    const { page } = visit;
    await open('/try');
    await page.getByLabel('Prompt', { exact: true }).fill(prompt);
    await page.getByLabel('Label', { exact: true }).fill(label);
    await page.getByText(/\$\d+\.\d+ estimated/).waitFor();
    await page.getByRole('button', { name: 'Create video' }).click();
  };

  test(
    'gives one at a create, is told which are possible, and finds it at the task, in the list and in the gallery',
    async () => {
      const { page } = visit;
      await create('a video without one', '');
      await page.waitForURL(/\/console\/tasks\/task_/);
      await create('a kite of the spring', 'two words');
      await page.getByText('must be 1 to 64 letters').waitFor();
      await page.getByLabel('Label', { exact: true }).fill('spring');
      await page.getByRole('button', { name: 'Create video' }).click();
      await page.waitForURL(/\/console\/tasks\/task_/);
      await page.getByRole('link', { name: 'spring', exact: true }).click();
      await page.waitForURL(/\/console\/tasks\?label=spring$/);
      await page.getByRole('link', { name: 'a kite of the spring' }).first().waitFor();
      await shootEverySize(visit, 'label-list');

      expect(await page.getByText('a video without one').count()).toBe(0);
      await open('/tasks?label=spring&view=gallery');
      await page.locator('.gallery a').first().waitFor();
      expect(await page.locator('.gallery a').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'finds the label of before in the form, and splits what was charged by label',
    async () => {
      const { page } = visit;
      await open('/try');
      await page.getByLabel('Prompt', { exact: true }).waitFor();
      expect(await page.getByLabel('Label', { exact: true }).inputValue()).toBe('spring');

      await until(async () => {
        const { data } = (await world.api('/v1/usage?group_by=label')) as { data: { label: string }[] };
        return data.some(({ label }) => label === 'spring');
      });
      await open('/usage?split=label');
      await page.getByRole('heading', { name: 'Charges by label' }).waitFor();
      await page
        .getByRole('cell', { name: 'spring' })
        .or(page.getByRole('rowheader', { name: 'spring' }))
        .waitFor();
      await shootEverySize(visit, 'usage-labels');
      expect(await page.getByRole('link', { name: 'Download this table' }).getAttribute('href')).toContain(
        'split_by=label',
      );
    },
    JOURNEY_TIMEOUT_MS,
  );
});
