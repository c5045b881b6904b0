import { existsSync, realpathSync } from 'node:fs';
import path from 'node:path';
import { expect, test } from '@jest/globals';
import { extractRelease } from './release-before.ts';

const NO_COMMIT = '0123456789abcdef0123456789abcdef01234567';

test('a release runs its own services with the packages of this checkout, and leaves nothing behind', async () => {
  const { folder, remove } = await extractRelease();
  const modules = path.join(folder, 'node_modules');

  expect(realpathSync(path.join(modules, '@reelgate/tasks'))).toBe(realpathSync(path.join(folder, 'services/tasks')));
  expect(realpathSync(path.join(modules, 'pg'))).toBe(
    realpathSync(path.join(import.meta.dirname, '../../node_modules/pg')),
  );
  expect(existsSync(path.join(folder, 'deploy/program/main.ts'))).toBe(true);
  remove();
  expect(existsSync(folder)).toBe(false);
});

test('a release that this clone does not have is refused with the command that fetches it', async () => {
  await expect(extractRelease(NO_COMMIT)).rejects.toThrow(
    `release ${NO_COMMIT}: its commit is not in this clone; fetch it: git fetch --depth=1 origin ${NO_COMMIT}`,
  );
});
