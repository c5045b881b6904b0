import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Now } from '../../services/gateway/console/api/operator-now.ts';
import { CHANNEL, KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { replaceCounts } from './minute-counts.ts';
import { shootEverySize } from './shoot-every-size.ts';
import { useConsole } from './use-console.ts';

const JOURNEY_TIMEOUT_MS = 120_000;
const QUIET_MS = 90_000;

describeInBrowser('the lights of operators', () => {
  const on = useConsole();
  const openAt = (address: string): Promise<Visit> => on.openAt('operator', OPERATORS.operator, address);
  const make = (prompt: string) =>
    on.world.api('/v1/videos', { method: 'POST', body: { model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' } });
  const card = (page: Page, name: string) =>
    page.locator('li.light').filter({ has: page.getByRole('heading', { name, exact: true }) });

  test(
    'turn red while all creates are refused, are amber after two minutes of well-being, and green when it is past',
    async () => {
      const visit = await openAt('');
      const { page } = visit;
      const creates = card(page, 'Creates');
      const read = async (...minutes: Parameters<typeof replaceCounts>[1]): Promise<void> => {
        replaceCounts(on.world.program, minutes);
        await page.reload();
        await creates.waitFor();
      };
      const well = { created: 10 };
      const bad = { refused: 10, refusedByUpstream: 10, refusedByClient: 2 };
      await read({ ago: 2, counts: well }, { ago: 1, counts: well }, { ago: 0, counts: bad });
      await creates.getByText('Act now').waitFor();
      await creates.getByText('Refused in ten minutes: 10 by upstreams, 2 by clients, 0 by us').waitFor();
      await shootEverySize(visit, 'lights-red');
      await read({ ago: 2, counts: bad }, { ago: 1, counts: well }, { ago: 0, counts: well });
      await creates.getByText('Recovering').waitFor();
      await creates
        .getByText(/^none of the last two minutes' 20 creates was refused .* 10 of 30 in the last ten/)
        .waitFor();
      await shootEverySize(visit, 'lights-recovering');
      await read({ ago: 10, counts: bad }, { ago: 1, counts: well }, { ago: 0, counts: well });

      expect(await creates.getByText('In order').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'stay green when clients send what nobody could take',
    async () => {
      const ofClients = { refusedByClient: 9, refusedByUpstream: 0, failedByClient: 4, failedByUpstream: 0 };
      replaceCounts(on.world.program, [{ ago: 0, counts: { created: 1, refused: 9, failed: 4, ...ofClients } }]);
      const { page } = await openAt('');
      await card(page, 'Creates').getByText('0 by upstreams, 9 by clients, 0 by us').waitFor();

      expect(await card(page, 'Creates').getByText('In order').count()).toBe(1);
      expect(await card(page, 'Ended tasks').getByText('In order').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'name a model whose only channel is paused, turn red within a minute, and all without a reload',
    async () => {
      replaceCounts(on.world.program, []);
      const visit = await openAt('');
      const { page } = visit;
      const channels = card(page, 'Channels');
      await channels.getByText('In order').waitFor();
      await on.world.program.command('channel', 'pause', CHANNEL, '--reason', 'it loses results', '--actor', 'ada');
      await channels.getByText(/^no channel serves 2 models$/).waitFor();
      await channels.getByText('Alpha-H3, Beta-V1').waitFor();
      const named = await channels.getByRole('listitem').first().textContent();
      const startedAt = performance.now();
      for (let create = 0; create < 3; create += 1) await make('a boat that nobody takes');
      await card(page, 'Creates').getByText('Act now').waitFor();
      const redAfterMs = performance.now() - startedAt;
      await shootEverySize(visit, 'lights-unserved');
      await on.world.program.command('channel', 'resume', CHANNEL, '--reason', 'it is over', '--actor', 'ada');
      await channels.getByText('In order').waitFor();

      expect(named?.replaceAll(/\s+/g, ' ').trim()).toMatch(
        new RegExp(`\\(video.generation, video.regeneration, video.context_ir\\): ${CHANNEL} is paused by ada$`),
      );
      // the counts and the page are each at most ten seconds old
      expect(redAfterMs).toBeLessThan(30_000);
      expect(await page.evaluate<number>("performance.getEntriesByType('navigation').length")).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'have no figures while the tasks service alone is gone, and the page says when it answered last',
    async () => {
      const visit = await openAt('');
      const { page } = visit;
      await card(page, 'Creates').waitFor();
      await page.route('**/console/api/now', async (route) => {
        const { unfinished: _, ...now } = (await (await route.fetch()).json()) as Now;
        const why = 'the tasks service does not answer';
        const lights = now.lights.map(({ name }) => ({ name, grade: 'fail', figure: '–', why, minutes: [] }));
        await route.fulfill({ json: { ...now, lights, tasksAway: { answeredAt: now.now - QUIET_MS } } });
      });
      await page.reload();
      await page.getByText(/^The tasks service does not answer, .* It answered last at .*\d\d:\d\d:\d\d\.$/).waitFor();
      await shootEverySize(visit, 'lights-tasks-away');

      expect(await card(page, 'Creates').getByText('Act now').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'are not needed to see that something waits: every page has the number in its navigation and its title',
    async () => {
      const visit = await openAt('/channels');
      const { page } = visit;
      const link = (name: string) => page.getByRole('navigation').getByRole('link', { name, exact: true });
      await page.getByRole('heading', { level: 1, name: 'Channels' }).waitFor();
      expect([await link('Attention').count(), await page.title()]).toEqual([1, 'Channels · Reelgate']);

      const { id } = await make('a boat in doubt [unknown:paused]');
      await link('Attention 1 waiting').waitFor();
      await until(async () => (await page.title()) === '(1) Channels · Reelgate');
      await shootEverySize(visit, 'attention-count');
      await page.getByRole('link', { name: 'Configuration' }).click();
      await page.getByRole('heading', { level: 1, name: 'Configuration' }).waitFor();
      await until(async () => (await page.title()) === '(1) Configuration · Reelgate');
      await on.world.program.command('attention', 'resolve', id, '--as', 'failed', '--actor', 'ada');
      await link('Attention').waitFor();
      await until(async () => (await page.title()) === 'Configuration · Reelgate');

      const client = await on.openAt('client', KEYS.demo, '');
      expect(await client.page.getByText('waiting').count()).toBe(0);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
