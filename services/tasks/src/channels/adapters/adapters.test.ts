import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import { ADAPTERS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, factory) => {
  channelContract({ name, factory, fixtures: path.join(import.meta.dirname, `${name}.fixtures`) });
});
