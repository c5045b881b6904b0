import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { CHANNEL } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS, startConsoleWorld } from './console-world.ts';
import type { ConsoleWorld } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { readAccount } from '../harness/records.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 120_000;
/** A page that is open tries again meanwhile, and a program that stops or starts answers with 503. */
const OF_A_RESTART = /responded with a status of 503/;

describeInBrowser('an operator at the console', () => {
  let world: ConsoleWorld;
  const visits: Visit[] = [];
  let isRestarted = false;
  beforeAll(async () => {
    world = await startConsoleWorld();
  }, START_TIMEOUT_MS);
  afterAll(() => world.stop(), START_TIMEOUT_MS);
  afterEach(async () => {
    const faults = visits
      .flatMap((visit) => visit.faults)
      .filter((fault) => !(isRestarted && OF_A_RESTART.test(fault)));
    isRestarted = false;
    await Promise.all(visits.splice(0).map((visit) => visit.close()));
    expect(faults).toEqual([]);
  });

  const signedIn = async (role: keyof typeof OPERATORS, address: string): Promise<Visit['page']> => {
    const visit = await world.signedIn('operator', OPERATORS[role]);
    visits.push(visit);
    await visit.page.goto(`${world.origins.operator}/console${address}`);
    return visit.page;
  };
  const make = (prompt: string) =>
    world.api('/v1/videos', { method: 'POST', body: { model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' } });

  test(
    'decides over a task in doubt with the keyboard, and the money follows the decision',
    async () => {
      const { id } = await make('a boat in doubt [unknown:paused]');
      const page = await signedIn('operator', '/attention');
      await page.getByText(id).first().waitFor();
      await page.keyboard.press('j');
      await page.keyboard.press('Enter');
      await page.getByText(/Charges nothing and returns \$0\.32\./).waitFor();
      await page.getByRole('radio', { name: /The work is lost/ }).check();
      await page.getByLabel('Reason').fill('the upstream has lost it');
      await page.getByRole('button', { name: 'Review the decision' }).click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Return \$0\.32/ })
        .click();
      await until(async () => (await world.api(`/v1/videos/${id}`)).status === 'failed');
      const acts = await world.program.command('act', 'list');

      expect(JSON.stringify(acts.json)).toContain('the upstream has lost it');
      expect(JSON.stringify(acts.json)).toContain('"operator"');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'pauses a channel over a restart, and resumes it',
    async () => {
      const page = await signedIn('operator', '/channels');
      const card = page
        .locator('article, section, li')
        .filter({ has: page.getByRole('heading', { name: CHANNEL }) })
        .last();
      await card.getByRole('button', { name: 'Pause' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('maintenance of the upstream');
      await page.getByRole('dialog').getByRole('button', { name: 'Pause' }).click();
      await page.getByText('Paused by').first().waitFor();
      const refused = await make('a boat that must wait');
      isRestarted = true;
      await world.program.stop();
      await world.program.start();
      const still = await make('a boat that must wait');
      await page.reload();
      await card.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('dialog').getByLabel('Reason').fill('it is over');
      await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click();
      await until(async () => (await make('a boat that goes')).id !== undefined);

      expect([refused.error?.code, still.error?.code]).toEqual(['no_channel_available', 'no_channel_available']);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'credits an account in two steps, once for any number of clicks',
    async () => {
      const page = await signedIn('treasurer', '/accounts/other');
      await page.getByText(/\$\d/).first().waitFor();
      const balance = async () => Number((await readAccount(world.program, 'other')).balance);
      const before = await balance();
      await page
        .getByLabel(/Amount/)
        .first()
        .fill('12.50');
      await page
        .getByLabel(/Reason/)
        .first()
        .fill('paid by transfer');
      await page
        .getByRole('button', { name: /^(Review|Credit|Continue|Next)/ })
        .first()
        .click();
      await page
        .getByRole('dialog')
        .getByRole('button', { name: /Credit|Add|Confirm/ })
        .dblclick();
      await page.getByText('paid by transfer').first().waitFor();

      expect(await balance()).toBe(before + 12.5);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'may look and not act as a viewer',
    async () => {
      const page = await signedIn('viewer', '/channels');
      await page.getByRole('heading', { name: CHANNEL }).waitFor();
      const pause = page.getByRole('button', { name: 'Pause' }).first();

      expect(await pause.isDisabled()).toBe(true);
      await page.goto(`${world.origins.operator}/console/configuration`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.getByText('***').first().waitFor();
      expect(await page.content()).not.toContain('upstream-secret-key');
    },
    JOURNEY_TIMEOUT_MS,
  );
});
