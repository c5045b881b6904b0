import { createHash } from 'node:crypto';

/** A Lua script, which Redis runs as one step. */
export interface RedisScript {
  readonly text: string;
  readonly sha: string;
}

export function redisScript(text: string): RedisScript {
  return { text, sha: createHash('sha1').update(text).digest('hex') };
}
