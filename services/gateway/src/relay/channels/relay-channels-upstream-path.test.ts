import { expect, test } from '@jest/globals';
import { upstreamPath } from './relay-channels.ts';

test.each([
  ['/', '/v1/chat/completions', '/v1/chat/completions'],
  ['/v1', '/v1/chat/completions', '/v1/chat/completions'],
  ['/v1/', '/v1/chat/completions', '/v1/chat/completions'],
  ['/openai/v1', '/v1/embeddings', '/openai/v1/embeddings'],
  ['/proxy', '/v1/embeddings', '/proxy/v1/embeddings'],
  ['/v1beta', '/v1beta/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['/v1beta', '/v1/models/m:generateContent', '/v1beta/models/m:generateContent'],
  ['/v1', '/v1beta/models/m:generateContent', '/v1/models/m:generateContent'],
  ['/api/v3', '/v1/chat/completions', '/api/v3/chat/completions'],
  ['/v1beta/openai', '/v1/chat/completions', '/v1beta/openai/chat/completions'],
  ['/v10x/y', '/v1/models/v1:generateContent', '/v10x/y/models/v1:generateContent'],
  ['/vendor', '/v1/embeddings', '/vendor/v1/embeddings'],
])('under %s, %s is %s', (base, path, upstream) => {
  expect(upstreamPath(base)(path)).toBe(upstream);
});
