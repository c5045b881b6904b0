import { Scope } from '@reelgate/proto/access/v1/access';

/** Every scope. */
export const EVERY_SCOPE: ReadonlySet<Scope> = new Set(
  Object.values(Scope).filter((value): value is Scope => typeof value === 'number' && value !== Scope.UNSPECIFIED),
);

/** The scopes by their names in configurations and messages, such as `account.read`. */
const WORDS: ReadonlyMap<Scope, string> = new Map(
  [...EVERY_SCOPE].map((scope) => [scope, Scope[scope].toLowerCase().replaceAll('_', '.')]),
);

const BY_WORD = new Map([...WORDS].map(([scope, word]) => [word, scope]));

export function toScopeWord(scope: Scope): string {
  return WORDS.get(scope) ?? String(scope);
}

export function parseScope(word: string): Scope | undefined {
  return BY_WORD.get(word);
}
