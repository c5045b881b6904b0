import path from 'node:path';
import { describe } from '@jest/globals';
import { channelContract } from '../../../testing/channel-contract.ts';
import type { AdapterSubject } from '../../../testing/channel-contract.ts';
import { extraFieldsContract } from '../../../testing/extra-fields-contract.ts';
import { ADAPTERS } from './index.ts';

/** By adapter: the phases that the API lacks. */
const LACKS: Readonly<Record<string, AdapterSubject['lacksPhases']>> = { xai: ['queued'] };
/** By adapter: the id of the polled work, where its form matters. */
const IDS: Readonly<Record<string, string>> = { fal: 'fal-ai/veo3.1/764cabcf-b745-4b3e-ae38-1200304cf45b' };

describe.each(Object.entries(ADAPTERS))('the adapter %s', (name, adapter) => {
  const fixtures = path.join(import.meta.dirname, `${name}.fixtures`);
  const subject = { name, adapter, fixtures, lacksPhases: LACKS[name], upstreamId: IDS[name] };
  channelContract(subject);
  extraFieldsContract(subject);
});
