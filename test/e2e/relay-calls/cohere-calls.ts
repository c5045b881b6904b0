import { CohereClient } from 'cohere-ai';
import type { SdkCall } from './sdk-call.ts';

export const cohereCalls: readonly SdkCall[] = [
  {
    name: 'cohere rerank',
    run: ({ base, key, model }, text) =>
      new CohereClient({ token: key, environment: base }).rerank(
        { model, query: text, documents: ['one', 'two', 'three'], topN: 2 },
        { maxRetries: 0 },
      ),
  },
];
