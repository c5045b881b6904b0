import type { UsageSeries } from '../../../api/usage.ts';
import { usageWords } from '../usage-words.ts';

/** The name of a model or a token, or its id where it has none. */
export function nameSeries({ key, name }: UsageSeries): string {
  return name || key || usageWords.unnamed;
}
