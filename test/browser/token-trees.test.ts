import { expect, test } from '@jest/globals';
import { KEYS } from '../harness/test-config.ts';
import type { Visit } from './browser.ts';
import { OPERATORS } from './console-world.ts';
import { describeInBrowser } from './describe-in-browser.ts';
import { useConsole } from './use-console.ts';
import { createToken } from '../harness/records.ts';

const JOURNEY_TIMEOUT_MS = 120_000;
const NARROW = 390;
const WIDE = 1280;

describeInBrowser('trees of tokens', () => {
  const on = useConsole();
  /** Fills the form of a new token, and gives its key. */
  const makeToken = async ({ page }: Visit, name: string): Promise<string> => {
    const form = page.locator('form').filter({ has: page.getByRole('button', { name: 'Create token' }) });
    await form.getByLabel('Name', { exact: false }).fill(name);
    await form.getByLabel('Every model, also later ones').check();
    await form.getByLabel('Tokens', { exact: true }).selectOption({ label: 'see and change' });
    await form.getByRole('button', { name: 'Create token' }).click();
    const key = await page.locator('.key-once pre').textContent();
    await page.getByRole('button', { name: 'I have copied it' }).click();
    return key ?? '';
  };
  const shoot = async (visit: Visit, name: string): Promise<void> => {
    for (const width of [NARROW, WIDE]) {
      await visit.page.setViewportSize({ width, height: 900 });
      await visit.shoot(`${name}-${width}`);
      expect([await visit.axe(), await visit.isTooWide()]).toEqual([[], false]);
    }
  };
  const row = ({ page }: Visit, name: string) => page.getByRole('row').filter({ hasText: name });
  const revokeAll = async (visit: Visit, name: string, shot: string): Promise<void> => {
    const { page } = visit;
    await page.getByRole('button', { name: `Revoke ${name}`, exact: true }).click();
    const dialog = page.getByRole('dialog');
    const box = dialog.getByRole('checkbox', { name: 'Also revoke the token that it made' });
    expect(await box.isChecked()).toBe(false);
    await dialog.getByText('Otherwise that token stays valid').waitFor();
    await shoot(visit, shot);
    await box.check();
    await dialog.getByRole('button', { name: 'Revoke' }).click();
    await page.getByText(`${name} and the token that it made are revoked.`).waitFor();
  };

  test(
    'a client sees what its token made, and revokes a maker with what that made',
    async () => {
      const demo = await on.openAt('client', KEYS.demo, '/tokens');
      const key = await makeToken(demo, 'middle');
      await makeToken(await on.openAt('client', key, '/tokens'), 'leaf');
      await demo.page.reload();
      await row(demo, 'leaf').getByText('made by middle').waitFor();
      await shoot(demo, 'token-tree-client');
      await revokeAll(demo, 'middle', 'token-tree-client-revoke');
      await row(demo, 'leaf').getByText('Revoked').waitFor();

      expect(await row(demo, 'made by demo').getByText('Revoked').count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );

  test(
    'an operator sees the trees of an account, and revokes a maker with what it made',
    async () => {
      const { key } = await createToken(on.world.program, 'demo', '--name', 'top', '--tokens', 'write');
      await makeToken(await on.openAt('client', key, '/tokens'), 'below');
      const ada = await on.openAt('operator', OPERATORS.treasurer, '/accounts/demo');
      await row(ada, 'made by top').waitFor();
      await shoot(ada, 'token-tree-operator');
      await revokeAll(ada, 'top', 'token-tree-operator-revoke');
      await row(ada, 'made by top').getByText('Revoked').waitFor();
    },
    JOURNEY_TIMEOUT_MS,
  );

  test.each([
    ['client', 'Token', KEYS.demo],
    ['operator', 'Operator key', OPERATORS.operator],
  ] as const)(
    'a visitor of the %s console signs out here or everywhere, and in again',
    async (door, label, key) => {
      const { page } = await on.openAt(door, key, '');
      const signIn = async (): Promise<void> => {
        await page.getByLabel(label).fill(key);
        await page.getByRole('button', { name: 'Sign in' }).click();
        await page.getByRole('navigation').waitFor();
      };
      const openMenu = (): Promise<void> => page.locator('[popovertarget="account-menu"]').click();
      await openMenu();
      await page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await signIn();
      await openMenu();
      await page.getByRole('button', { name: 'Sign out everywhere' }).click();
      await page.getByRole('dialog').getByRole('button', { name: 'Sign out everywhere' }).click();
      await signIn();
      await openMenu();

      expect(await page.getByRole('button', { name: 'Sign out', exact: true }).count()).toBe(1);
    },
    JOURNEY_TIMEOUT_MS,
  );
});
