import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import { extraFieldsContract } from '../../../testing/extra-fields-contract.ts';
import { ADAPTERS, EXTRA_FIELDS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, factory) => {
  const fixtures = path.join(import.meta.dirname, `${name}.fixtures`);
  channelContract({ name, factory, fixtures });
  extraFieldsContract({ name, factory, fixtures, fields: EXTRA_FIELDS[name as keyof typeof EXTRA_FIELDS] });
});
