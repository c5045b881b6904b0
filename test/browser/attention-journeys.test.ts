import { afterEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { drawCases } from '@reelgate/platform/testing/draw-cases';
import type { Visit, VisitOptions } from './browser.ts';
import { OPERATORS } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { useConsole } from './use-console.ts';
import { listAttention, showTask } from '../harness/records.ts';
import type { ListActsResponseJson } from '@reelgate/proto/tasks/v1/operator_service';

const JOURNEY_TIMEOUT_MS = 180_000;
const WINDOWS = [
  { width: 390, colours: 'dark' },
  { width: 1280, colours: 'light' },
] as const;
/** Four seconds are ordered; the usage of five hundred is far above ten times the hold. */
const OVERRUN = '[seconds:500]';

interface Overrun {
  readonly id: string;
  readonly prompt: string;
}

describeInBrowser('an operator who decides about money', () => {
  /** What a test breaks on purpose, as the browser reports it. */
  const provoked: string[] = [];
  const under = useConsole(provoked);
  afterEach(async () => {
    // nothing of one test waits in the next
    for (const { id } of await waiting()) expect((await decideByCommand(id)).code).toBe(0);
    expect((await under.world.program.command('ledger', 'verify')).code).toBe(0);
  }, JOURNEY_TIMEOUT_MS);

  const waiting = async () =>
    (await listAttention(under.world.program)).map(({ taskId, reason }) => ({ id: taskId, reason }));
  const decideByCommand = (id: string, actor = 'bob') =>
    under.world.program.command(
      ...['attention', 'resolve', id, '--as', 'failed', '--actor', actor, '--reason', 'by the command line'],
    );
  const show = (id: string) => showTask(under.world.program, id);
  const actsOn = async (id: string) => {
    const { json } = await under.world.program.command('act', 'list', '--subject', id);
    return (json as ListActsResponseJson).acts?.map(({ actor, reason }) => [actor, reason]);
  };
  /**
   * Makes tasks whose usage is far above their holds, and waits until they wait for a decision. Gives them in the order
   * of the queue: on a busy machine they end in another order than they were made in.
   */
  const overrun = async (count: number): Promise<readonly Overrun[]> => {
    const prompts = new Map<string, string>();
    for (let at = 0; at < count; at += 1) {
      const body = { model: 'Alpha-H3', prompt: `boat ${at} ${OVERRUN}`, seconds: '4', size: '1280x720' };
      const { id } = await under.world.api('/v1/videos', { method: 'POST', body });
      prompts.set(String(id), body.prompt);
    }
    const listOverruns = async (): Promise<readonly Overrun[]> =>
      (await waiting())
        .filter(({ reason }) => reason === 'overrun')
        .map(({ id }) => ({ id, prompt: String(prompts.get(id)) }));
    await until(async () => (await listOverruns()).length === count);
    return listOverruns();
  };
  const signIn = async (window: Omit<VisitOptions, 'origin'>, address: string): Promise<Visit> => {
    const visit = under.keep(await under.world.signedIn('operator', OPERATORS.operator, window));
    await visit.page.goto(`${under.world.origins.operator}/console${address}`);
    return visit;
  };
  const look = async (visit: Visit, name: string): Promise<void> => {
    await visit.shoot(name);
    expect([await visit.axe(), await visit.isTooWide()]).toEqual([[], false]);
  };
  // not waitForFunction: when it has to wait, it evaluates a text in the page, which the policy of the console forbids
  const waitForFocus = (page: Page, text: string): Promise<void> =>
    until(async () => (await page.evaluate('document.activeElement.textContent')) === text);
  const fillDecision = async (page: Page, what: RegExp, reason: string): Promise<void> => {
    await page.getByRole('radio', { name: what }).check();
    await page.getByLabel('Reason').fill(reason);
    await page.getByRole('button', { name: /^Review/ }).click();
  };

  test.each(drawCases('sees', WINDOWS, 1))(
    'sees at $width px in $colours colours the order, the usage and the prompt beside the choices, and afterwards what the decision did',
    async ({ width, colours }) => {
      const entries = await overrun(2);
      const [first = '', second = ''] = entries.map(({ id }) => id);
      const visit = await signIn({ width, colours }, `/attention?open=${first}`);
      const { page } = visit;
      await page.getByRole('row', { name: 'Price $0.32 held $40.00, 125 times the hold' }).waitFor();
      await page.getByRole('row', { name: 'Seconds 4 s 500 s' }).waitFor();
      await page.getByText(String(entries[0]?.prompt)).waitFor();
      await page.getByText('Charges $40.00 and returns nothing.').waitFor();
      await page.getByText('Charges nothing and returns $0.32.').waitFor();
      await look(visit, `attention-overrun-${width}`);
      // a letter in the field of the reason is text
      await page.getByLabel('Reason').pressSequentially('n');
      expect([await page.getByLabel('Reason').inputValue(), page.url().includes(first)]).toEqual(['n', true]);
      await fillDecision(page, /The work was done/, 'the video is as long as that');
      await page.getByRole('dialog').getByRole('button', { name: 'Charge $40.00' }).click();
      await page
        .getByText(
          new RegExp(`You decided ${first} as completed: \\$40\\.00 charged, \\$0\\.32 of the hold used up; \\d`),
        )
        .first()
        .waitFor();
      await look(visit, `attention-decided-${width}`);

      expect(await show(first)).toMatchObject({ settlement: { basis: 'BASIS_USAGE', amountNanos: '40000000000' } });
      await page.keyboard.press('n');
      await page.waitForURL((url) => url.searchParams.get('open') === second);
      // the focus follows the address, once the entry is drawn
      await waitForFocus(page, 'Usage far above the hold');
      await fillDecision(page, /The work is lost/, 'the upstream counts wrongly');
      await page.getByRole('dialog').getByRole('button', { name: 'Return $0.32' }).click();
      await page
        .getByText(/as failed: nothing charged, \$0\.32 returned/)
        .first()
        .waitFor();
      await page.getByRole('button', { name: 'Next', exact: true }).click();
      await page.getByRole('heading', { name: 'Nothing is left to decide.' }).waitFor();
      // the focus follows once it is drawn
      await waitForFocus(page, 'Nothing is left to decide.');
      expect([await actsOn(first), await actsOn(second)]).toEqual([
        [['operator', 'the video is as long as that']],
        [['operator', 'the upstream counts wrongly']],
      ]);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'is told who decided meanwhile, and no money moves twice',
    async () => {
      const [{ id } = { id: '' }] = await overrun(1);
      const visit = await signIn({}, `/attention?open=${id}`);
      const { page } = visit;
      await fillDecision(page, /The work was done/, 'it is as long as that');
      // the stream tells nothing while the switch is off
      await page.getByRole('dialog').getByRole('button', { name: 'Back' }).click();
      await page.getByRole('button', { name: 'Live' }).click();
      await page.getByRole('button', { name: /^Review/ }).click();
      await decideByCommand(id);
      await page.getByRole('dialog').getByRole('button', { name: 'Charge $40.00' }).click();
      await page
        .getByText(/bob decided it as failed: nothing charged, \$0\.32 returned; .* Reason: by the command line/)
        .waitFor();
      await look(visit, 'attention-decided-by-another');

      expect((await show(id)).settlement).toMatchObject({ basis: 'BASIS_RELEASED' });
      expect(await actsOn(id)).toEqual([['bob', 'by the command line']]);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test.each(drawCases('decides', WINDOWS, 1))(
    'decides at $width px in $colours colours over several of one cause, each booked on its own, and tries again what was not answered',
    async ({ width, colours }) => {
      const { id: doubtful } = await under.world.api('/v1/videos', {
        method: 'POST',
        body: { model: 'Alpha-H3', prompt: 'a boat in doubt [unknown:paused]', seconds: '4', size: '1280x720' },
      });
      const ids = (await overrun(4)).map(({ id }) => id);
      await until(async () => (await waiting()).some(({ id }) => id === doubtful));
      const visit = await signIn({ width, colours }, '/attention');
      const { page } = visit;
      await page.getByRole('checkbox', { name: `Choose ${String(ids[0])}` }).check();
      expect(await page.getByRole('checkbox', { name: `Choose ${String(doubtful)}` }).isDisabled()).toBe(true);
      await page.getByRole('button', { name: 'Choose all 4 of this cause' }).click();
      await page.getByRole('button', { name: 'Decide 4 together' }).click();
      await page.getByText('Charges $160.00 and returns nothing.').waitFor();
      await page.getByText('Charges nothing and returns $1.28.').waitFor();
      await page.getByRole('radio', { name: /The work is lost/ }).check();
      await look(visit, `attention-together-${width}`);
      await decideByCommand(ids[1] ?? '');
      await page.getByRole('heading', { name: '3 entries: Usage far above the hold' }).waitFor();
      await fillDecision(page, /The work is lost/, 'the upstream counts wrongly');
      // the answer to the second one is lost on its way
      let isLost = false;
      provoked.push('console: Failed to load resource: net::ERR_CONNECTION_RESET');
      await page.route('**/console/api/calls', async (route) => {
        const body = route.request().postData() ?? '';
        if (!body.includes('/ResolveAttention') || !body.includes(String(ids[2]))) {
          await route.continue();
          return;
        }
        await route.fetch();
        isLost = true;
        await route.abort('connectionreset');
      });
      await page.getByRole('dialog').getByRole('button', { name: 'Return $0.96' }).click();
      await page.getByText('1 of 3 decided, 2 not decided.').first().waitFor();
      // the sentence also stands there while the second one is being sent, and then its answer would not be lost
      await page.getByRole('button', { name: 'Try the rest again (2)' }).waitFor();
      await look(visit, `attention-partly-${width}`);
      await page.unroute('**/console/api/calls');
      await page.getByRole('button', { name: 'Try the rest again (2)' }).click();
      await page.getByText('3 of 3 decided.').first().waitFor();
      await look(visit, `attention-done-${width}`);

      expect(isLost).toBe(true);
      for (const id of ids) expect((await show(id)).settlement).toMatchObject({ basis: 'BASIS_RELEASED' });
      expect(await Promise.all(ids.map(actsOn))).toEqual(
        ids.map((id) =>
          id === ids[1] ? [['bob', 'by the command line']] : [['operator', 'the upstream counts wrongly']],
        ),
      );
      await page.keyboard.press('n');
      await page.waitForURL((url) => url.searchParams.get('open') === doubtful);
      await page.getByText('The upstream has reported no usage.').waitFor();
      await look(visit, `attention-doubt-${width}`);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
