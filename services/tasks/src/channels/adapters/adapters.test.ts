import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import type { AdapterSubject } from '../../../testing/channel-contract.ts';
import { extraFieldsContract } from '../../../testing/extra-fields-contract.ts';
import { ADAPTERS } from './index.ts';

/** By adapter: the phases that the API lacks. */
const LACKS: Readonly<Record<string, AdapterSubject['lacksPhases']>> = { xai: ['queued'] };

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  const fixtures = path.join(import.meta.dirname, `${name}.fixtures`);
  const subject = { name, adapter, fixtures, lacksPhases: LACKS[name] };
  channelContract(subject);
  extraFieldsContract(subject);
});
