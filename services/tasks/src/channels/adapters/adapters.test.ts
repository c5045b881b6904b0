import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import type { AdapterSubject } from '../../../testing/channel-contract.ts';
import { extraFieldsContract } from '../../../testing/extra-fields-contract.ts';
import { channelFactory } from '../adapter.ts';
import { ADAPTERS } from './index.ts';

/** By adapter: the header of its upstream's key if it is not `authorization`, and the phases that the API lacks. */
const EXCEPTIONS: Readonly<Record<string, Partial<AdapterSubject>>> = {};

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  const subject = {
    name,
    factory: channelFactory(adapter),
    fixtures: path.join(import.meta.dirname, `${name}.fixtures`),
    ...EXCEPTIONS[name],
  };
  channelContract(subject);
  extraFieldsContract({ ...subject, fields: adapter.extraFields ?? {} });
});
