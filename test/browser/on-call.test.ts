import { expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { CHANNEL, KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { shootEverySize } from './shoot-every-size.ts';
import { useConsole } from './use-console.ts';

const JOURNEY_TIMEOUT_MS = 180_000;
/** A line of text. */
const ROW_PX = 24;

describeInBrowser('an operator on call', () => {
  const on = useConsole();
  const openAt = (address: string): Promise<Visit> => on.openAt('operator', OPERATORS.operator, address);
  const make = async (prompt: string, requestId?: string): Promise<string> => {
    const answer = await fetch(`${on.world.program.base}/v1/videos`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${KEYS.demo}`,
        'content-type': 'application/json',
        ...(requestId === undefined ? {} : { 'x-request-id': requestId }),
      },
      body: JSON.stringify({ model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' }),
    });
    return ((await answer.json()) as { id: string }).id;
  };
  const ended = (id: string) =>
    until(async () => /failed|completed/.test((await on.world.api(`/v1/videos/${id}`)).status));
  const status = (page: Page) => page.getByRole('region', { name: 'What is wrong' });
  /** A phone has the cause and its time in two rows, and the rest behind a button. */
  const foldsOnPhone = async (page: Page): Promise<void> => {
    await page.setViewportSize({ width: 390, height: 900 });
    const line = status(page);
    const [whole, since] = [await line.boundingBox(), await line.locator('.status-since').boundingBox()];
    expect(whole?.height).toBeLessThanOrEqual(2 * ROW_PX);
    // however long the cause is, its time is not cut off
    expect(since!.y + since!.height).toBeLessThanOrEqual(whole!.y + whole!.height);
    expect(await line.getByRole('link', { name: 'Runbook' }).isVisible()).toBe(false);
    await line.getByRole('button', { name: 'More' }).focus();
    await page.keyboard.press('Enter');
    await line.getByText('Hit: Alpha-H3; account demo').waitFor();
    await line.getByText('Read the last failures').waitFor();
    await line.getByRole('link', { name: 'Show it' }).waitFor();
    await line.getByRole('link', { name: 'Runbook' }).waitFor();
  };
  /** The heading of a page takes the focus when it is drawn, so a key before that would be lost. */
  const search = async (page: Page, value: string): Promise<void> => {
    await page.locator('h1').waitFor();
    await page.waitForFunction("document.activeElement?.tagName !== 'INPUT'");
    await page.keyboard.press('/');
    await page.keyboard.type(value);
    await page.keyboard.press('Enter');
  };

  test(
    'reads nothing while all is well',
    async () => {
      const visit = await openAt('');
      await status(visit.page).getByText('All is well').waitFor();

      expect(await visit.page.getByText('Faults of the last hour').count()).toBe(0);
      await shootEverySize(visit, 'on-call-well');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'goes from any id straight to its page, with the keyboard alone',
    async () => {
      const id = await make('a red kite over the harbour', 'order-7');
      await ended(id);
      const { page } = await openAt('/money');
      for (const value of [id, 'order-7']) {
        await search(page, value);
        await page.waitForURL(`**/console/tasks/${id}`);
      }
      const upstreamId = await page.locator('dt:has-text("Upstream id") + dd').first().innerText();
      await page.goto(`${on.world.origins.operator}/console/money`);
      await search(page, upstreamId.trim().split(/\s/)[0] ?? '');
      await page.waitForURL(`**/console/tasks/${id}`);
      await search(page, CHANNEL);
      await page.waitForURL(`**/console/channels/${CHANNEL}`);
      await search(page, 'demo');
      await page.waitForURL('**/console/accounts/demo');
      await search(page, 'nothing-has-this-id-7');
      await page.getByText('Nothing was found').waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'hears on every page what is wrong, who is hit and what to do, and finds the last failures of the channel',
    async () => {
      const failed = await Promise.all([1, 2, 3, 4].map((number) => make(`a storm ${number} [fail:1013]`)));
      for (const id of failed) await ended(id);
      const visit = await openAt('/money');
      const { page } = visit;
      await until(async () => {
        await page.reload();
        await page.getByRole('heading', { level: 1 }).waitFor();
        return (await status(page).getByText('failed by their upstreams').count()) === 1;
      });
      await status(page).getByText('Hit: Alpha-H3; account demo').waitFor();
      await shootEverySize(visit, 'on-call-fault');
      await foldsOnPhone(page);

      await status(page).getByRole('link', { name: 'Runbook' }).click();
      await page.getByRole('heading', { name: 'Runbook ReelgateChannelRefuses' }).waitFor();
      await shootEverySize(visit, 'on-call-runbook');
      await page.goto(`${on.world.origins.operator}/console`);
      await page.getByRole('heading', { name: 'By account' }).waitFor();
      await shootEverySize(visit, 'on-call-now');
      await page.goto(`${on.world.origins.operator}/console/channels/${CHANNEL}`);
      await page
        .getByRole('link', { name: failed[0] ?? '' })
        .first()
        .waitFor();
      await shootEverySize(visit, 'on-call-channel');
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'pauses a channel for half an hour, leaves a note, and the next person reads both in the hand-over',
    async () => {
      const visit = await openAt(`/channels/${CHANNEL}`);
      const { page } = visit;
      await page.getByRole('button', { name: 'Pause', exact: false }).first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('For how long').selectOption({ label: '30 minutes' });
      await dialog.getByLabel('Reason').fill('the upstream loses results');
      await dialog.getByRole('button', { name: 'Pause' }).click();
      await page.getByText(/comes back\s+in/).waitFor();
      await page.getByLabel('New note').fill('Their support has the ticket 4711.');
      await page.getByRole('button', { name: 'Leave the note' }).click();
      await page.getByText('Their support has the ticket 4711.', { exact: true }).waitFor();
      await shootEverySize(visit, 'on-call-paused');

      const next = await on.openAt('operator', OPERATORS.treasurer, '/hand-over');
      await next.page.getByText('Paused channel').first().waitFor();
      await next.page.getByText('Left a note on').first().waitFor();
      await shootEverySize(next, 'on-call-hand-over');
      await next.page.getByRole('button', { name: 'I have read this' }).click();
      await next.page.getByText('Nothing has happened since.').waitFor();

      await page.getByRole('button', { name: /^Resolve/ }).click();
      await page.getByText('No note is here.').waitFor();
      await page.getByRole('button', { name: /^Resume/ }).click();
      await dialog.getByLabel('Reason').fill('it is well again');
      await dialog.getByRole('button', { name: 'Resume' }).click();
      await page.getByRole('button', { name: /^Pause/ }).waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );
});
