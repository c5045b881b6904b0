import type { MarginGroup } from '../../../api/operator-margins.ts';
import { marginsWords } from '../margins-words.ts';

/** The name of a channel, a model or an account, or that it is none of them. */
export function nameMarginGroup({ key, isRest }: Pick<MarginGroup, 'key' | 'isRest'>): string {
  if (isRest) return marginsWords.rest;
  return key || marginsWords.unnamed;
}
