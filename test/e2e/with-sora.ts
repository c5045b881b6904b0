import { readFileSync } from 'node:fs';
import path from 'node:path';
import { parse } from 'yaml';
import { CHANNEL } from '../harness/test-config.ts';
import type { TestConfig } from '../harness/test-config.ts';
import { EXAMPLES } from './example-runs.ts';

interface ModelAddition {
  readonly models: object;
  readonly channels: readonly { readonly models: Readonly<Record<string, string>> }[];
  readonly prices: object;
}

/** Adds the model of the page about OpenAI's videos API, as its example of a configuration does. */
export function withSora(config: TestConfig): TestConfig {
  const added = parse(readFileSync(path.join(EXAMPLES, 'sora-2.yaml'), 'utf8')) as ModelAddition;
  const named = Object.assign({}, ...added.channels.map(({ models }) => models)) as Readonly<Record<string, string>>;
  return {
    ...config,
    models: { ...config.models, ...added.models },
    channels: config.channels.map((channel) =>
      channel.id === CHANNEL ? { ...channel, models: { ...channel.models, ...named } } : channel,
    ),
    prices: { ...config.prices, ...added.prices },
  };
}
