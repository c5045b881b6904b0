import { spawnSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { V8_FLAGS } from './v8-flags.ts';

test.each(V8_FLAGS)('this Node knows the flag %s', (flag) => {
  const { stdout } = spawnSync(process.execPath, ['--v8-options'], { encoding: 'utf8' });

  expect(stdout).toContain(`\n  ${flag.replace(/^--no-/, '--')} (`);
});
