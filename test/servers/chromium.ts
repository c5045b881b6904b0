import { explainMissing } from './explain-missing.ts';
import { findProgram } from './find-program.ts';
import type { Launcher } from './launcher.ts';

/** The names that distributions give the browser. */
const NAMES = ['chromium', 'chromium-browser', 'google-chrome'];

export const chromium: Pick<Launcher, 'name' | 'missing'> = {
  name: 'Chromium',
  missing: () => explainMissing('chromium', 'chromium', chromiumProgram),
};

/** The full path of the browser; undefined: it is missing. */
export function chromiumProgram(): string | undefined {
  return NAMES.map((name) => findProgram(name)).find((file) => file !== undefined);
}
