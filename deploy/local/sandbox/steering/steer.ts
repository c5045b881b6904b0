import type { Kind } from '../order.ts';
import { plainScript, type Script } from './script.ts';
import { words } from './words.ts';

const bracketed = /\[(r:)?([a-z-]{1,20})(?::([^\]\s]{1,60}))?\]/gi;

/**
 * Reads the words in square brackets out of a prompt. A regeneration obeys only those that begin with `r:`, the others only those that do
 * not, because a regeneration by task id has its source's prompt. What is not a word of ours is just prompt.
 */
export function steer(text: string, kind: Kind): Script {
  let script = plainScript;
  for (const [, prefix, name = '', argument = ''] of text.matchAll(bracketed)) {
    if ((prefix !== undefined) !== (kind === 'regeneration')) continue;
    const word = Object.hasOwn(words, name.toLowerCase()) ? words[name.toLowerCase()] : undefined;
    script = { ...script, ...word?.change(argument, script) };
  }
  return script;
}
