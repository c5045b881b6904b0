import { describe } from '@jest/globals';
import { chromium } from '../servers/chromium.ts';

/** A describe block that needs a browser. Without one it is skipped with a message. */
export function describeInBrowser(title: string, tests: () => void): void {
  const reason = chromium.missing();
  if (reason === undefined) {
    describe(title, tests);
    return;
  }
  process.stderr.write(`skipped: ${title} in ${chromium.name}: ${reason}\n`);
  describe.skip(title, tests);
}
