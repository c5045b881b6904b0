import type { UsageSeries, UsageSplit } from '../../../api/usage.ts';
import { usageWords } from '../usage-words.ts';

/** The name of a model, a token or a label, or its id if it has no name. */
export function nameSeries({ key, name }: UsageSeries, split: UsageSplit): string {
  return name || key || (split === 'label' ? usageWords.unlabelled : usageWords.unnamed);
}
