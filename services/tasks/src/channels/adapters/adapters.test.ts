import path from 'node:path';
import { describe } from '@jest/globals';
import { runAdapterContract } from '../../../testing/run-adapter-contract.ts';
import { ADAPTERS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  runAdapterContract({ name, adapter, fixtures: path.join(import.meta.dirname, `${name}.fixtures`) });
});
