import type { Kind } from '../vendor-order.ts';
import { plainScript, type Script } from './script.ts';
import { words } from './steering-words.ts';

const bracketed = /\[(r:)?([a-z-]{1,20})(?::([^\]\s]{1,60}))?\]/gi;

/**
 * Reads the steering words in square brackets of a prompt. Words that begin with `r:` steer a regeneration, all others
 * steer the other kinds, because a regeneration by task id has its source's prompt. Other text in brackets is plain
 * prompt.
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
