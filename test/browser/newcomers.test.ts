import { beforeAll, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import type { Door } from '../../services/gateway/console/routes.ts';
import { KEYS } from '../harness/test-config.ts';
import { OPERATORS } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { until } from './fill-console.ts';
import { useConsole } from './use-console.ts';
import { formatAmount, showTask } from '../harness/records.ts';

const START_TIMEOUT_MS = 180_000;
const JOURNEY_TIMEOUT_MS = 180_000;
/** Nothing that a newcomer looks for is further away than this. */
const TABS_MAX = 40;
const SHIFTS_MAX = 0.02;
const PROMPT = 'a red kite over the dunes';

/** 400 kbit/s, as a phone has it at the edge of its net. */
const SLOW = { offline: false, latency: 150, downloadThroughput: 50_000, uploadThroughput: 50_000 };
const KEY_OF: Readonly<Record<Door, string>> = { client: KEYS.demo, operator: OPERATORS.viewer };

/**
 * Says which element has the focus: its role or element, its name, and whether its ring is drawn. The browser draws those
 * of the controls inside a video.
 */
const FOCUS = `(() => {
  const at = document.activeElement;
  const label = at.labels?.[0]?.textContent ?? at.getAttribute('aria-label') ?? at.textContent;
  const { outlineStyle, outlineWidth } = getComputedStyle(at);
  return {
    what: [at.getAttribute('role') ?? at.localName, label.trim().replace(/\\s+/g, ' ')].join(' '),
    isRinged: at === document.body || at.localName === 'video' || (outlineStyle !== 'none' && parseFloat(outlineWidth) > 0),
  };
})()`;

/** Notes what moves, and whether the place of what is read is drawn before it. */
const WATCH = `
  globalThis.shifts = [];
  globalThis.sawSkeleton = false;
  new PerformanceObserver((list) => shifts.push(...list.getEntries())).observe({ type: 'layout-shift', buffered: true });
  new MutationObserver(() => {
    if (document.querySelector('.skeleton') !== null) sawSkeleton = true;
  }).observe(document, { childList: true, subtree: true });
`;

describeInBrowser('a newcomer', () => {
  const under = useConsole();
  let id: string;
  beforeAll(async () => {
    const make = async (prompt: string): Promise<string> => {
      const body = { model: 'Alpha-H3', prompt, seconds: '4', size: '1280x720' };
      return (await under.world.api('/v1/videos', { method: 'POST', body })).id;
    };
    id = await make(PROMPT);
    for (const prompt of ['a blue kite', 'a red boat', 'a grey harbour']) await make(prompt);
    await until(async () => (await under.world.api(`/v1/videos/${id}`)).status === 'completed');
  }, START_TIMEOUT_MS);

  const open = async (door: Door): Promise<Page> => {
    const visit = under.keep(await under.world.visit(door));
    await visit.page.goto(`${under.world.origins[door]}/console`);
    await visit.page.getByRole('button', { name: 'Sign in' }).waitFor();
    return visit.page;
  };
  /** Presses Tab until this has the focus. Each stop on the way must have a name and a ring. */
  const tabTo = async (page: Page, wanted: RegExp): Promise<void> => {
    const stops: string[] = [];
    for (let tab = 0; tab <= TABS_MAX; tab += 1) {
      const { what, isRinged } = await page.evaluate<{ what: string; isRinged: boolean }>(FOCUS);
      stops.push(what);
      if (tab > 0 && !isRinged) throw new Error(`the focus on "${what}" is not to be seen`);
      if (wanted.test(what)) return;
      await page.keyboard.press('Tab');
    }
    throw new Error(`Tab does not lead to ${String(wanted)}: ${stops.join(', ')}`);
  };

  test(
    'finds the red kite by its words, reads its price and takes the code to make it again, by keyboard alone',
    async () => {
      const page = await open('client');
      await tabTo(page, /^input Token/);
      await page.keyboard.type(KEYS.demo);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
      await tabTo(page, /^a Tasks$/);
      await page.keyboard.press('Enter');
      await page.waitForURL('**/console/tasks');
      await page.getByRole('link', { name: 'a grey harbour' }).waitFor();
      await tabTo(page, /^input Words of the prompt/);
      await page.keyboard.type('red kite');
      await page.keyboard.press('Enter');
      await page.getByRole('link', { name: 'a grey harbour' }).waitFor({ state: 'detached' });
      await tabTo(page, /^a a red kite/);
      await page.keyboard.press('Enter');
      await page.getByRole('heading', { level: 1, name: PROMPT }).waitFor();
      const price = await page.locator('.money-line .figure').innerText();
      await tabTo(page, /^tab curl/);
      await page.keyboard.press('ArrowRight');
      await tabTo(page, /^tab OpenAI for Node/);
      await tabTo(page, /^button Copy/);
      await page.keyboard.press('Enter');
      await page.getByText('Copied').waitFor();
      const code = await page.evaluate<string>('navigator.clipboard.readText()');
      const { settlement } = await showTask(under.world.program, id);

      expect(code).toContain(PROMPT);
      expect(code).toContain('npm install openai');
      expect(price).toBe(`$${formatAmount(settlement?.amountNanos)}`);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test.each<[Door, string]>([
    ['client', ''],
    ['client', '/tasks'],
    ['client', '/tasks?view=gallery'],
    ['client', '/tasks/:id'],
    ['operator', ''],
    ['operator', '/tasks'],
    ['operator', '/tasks/:id'],
  ])(
    'on a line of 400 kbit/s sees the %s page "%s" take its place before its content, and nothing moves',
    async (door, address) => {
      const visit = under.keep(await under.world.signedIn(door, KEY_OF[door]));
      const { page } = visit;
      const session = await page.context().newCDPSession(page);
      await session.send('Network.enable');
      await session.send('Network.setCacheDisabled', { cacheDisabled: true });
      await session.send('Network.emulateNetworkConditions', SLOW);
      await page.addInitScript(WATCH);
      await page.goto(`${under.world.origins[door]}/console${address.replace(':id', id)}`);
      await page.locator('.loaded').waitFor();
      await page.waitForLoadState('load');
      const moved = await page.evaluate<number>('shifts.reduce((sum, { value }) => sum + value, 0)');

      expect(await page.evaluate<boolean>('sawSkeleton')).toBe(true);
      expect(moved).toBeLessThan(SHIFTS_MAX);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
