import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import { extraFieldsContract } from '../../../testing/extra-fields-contract.ts';
import { channelFactory } from '../adapter.ts';
import { ADAPTERS } from './index.ts';

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  const subject = {
    name,
    factory: channelFactory(adapter),
    fixtures: path.join(import.meta.dirname, `${name}.fixtures`),
  };
  channelContract(subject);
  extraFieldsContract({ ...subject, fields: adapter.extraFields ?? {} });
});
