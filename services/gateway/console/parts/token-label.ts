import type { Token } from '../api/tokens.ts';

/** The name of a token, or its id without one. */
export function labelToken({ id, name }: Pick<Token, 'id' | 'name'>): string {
  return name === '' ? id : name;
}
