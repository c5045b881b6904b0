import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { systemClock } from '@reelgate/platform/clock';
import { channelFactory } from '../src/channels/adapter-channel.ts';
import type { PlannedAttempt } from '../src/channels/channel.ts';
import type { AdapterSubject } from './channel-contract.ts';
import { channelSettings } from './channel-settings.ts';
import { openScriptedUpstream } from './scripted-upstream.ts';
import type { ScriptedUpstream } from './scripted-upstream.ts';

const ADDRESS = 'http://169.254.169.254/latest';
/** Field names under which an upstream may take a media file, a URL, a cost or one of our own fields. */
const HOSTILE_NAMES: readonly string[] = [
  'image',
  'images',
  'image_url',
  'image_urls',
  'first_frame',
  'first_frame_url',
  'first_frame_image',
  'last_frame',
  'last_frame_url',
  'image_tail',
  'input_reference',
  'reference_images',
  'reference_image_urls',
  'subject_reference',
  'promptImage',
  'video',
  'videos',
  'video_url',
  'audio',
  'audio_url',
  'file_id',
  'files',
  'media',
  'content',
  'references',
  'metadata',
  'extra',
  'extra_body',
  'parameters',
  'input',
  'callback_url',
  'callback',
  'webhook',
  'webhook_url',
  'notify_hook',
  'n',
  'quality',
  'mode',
  'fps',
  'frames',
  'service_tier',
  'generate_audio',
  'model',
  'prompt',
  'seconds',
  'size',
  'duration',
  'resolution',
  'ratio',
  'source_task_id',
  'action',
  'user_id',
  '__proto__',
  'constructor',
  'prototype',
  'toString',
  'hasOwnProperty',
];
const HOSTILE_VALUES: readonly (readonly [string, unknown])[] = [
  ['an address', ADDRESS],
  ['an address in upper case', 'HTTP://10.0.0.1/a.png'],
  ['an address without a scheme', '//10.0.0.1/a.png'],
  ['an address after spaces', '  \t//10.0.0.1/a.png'],
  ['an address within words', `like ${ADDRESS}`],
  ['a link of ours', '/ximg/a.png?sig=1'],
  ['a data URL', 'data:image/png;base64,iVBORw0KGgo='],
  ['a data URL in upper case', ' DATA:image/png,abc'],
  ['a file of an upstream account', 'asset://a-1'],
  ['another file of an upstream account', 'mm_file://1'],
  ['an object', { url: ADDRESS }],
  ['a list', [ADDRESS]],
  ['a nested object', { a: { b: [{ image_url: ADDRESS }] } }],
  ['a list in a list', [[7]]],
  ['nothing', null],
  ['an empty text', ''],
  ['a very long text', 'x'.repeat(5000)],
  ['a huge number', 1e300],
  ['a negative number', -1e9],
];

/** Checks that an adapter passes on the extra fields that it declares, and never a media file. */
export function extraFieldsContract({ name, adapter, fixtures }: AdapterSubject): void {
  const [first] = JSON.parse(readFileSync(path.join(fixtures, 'submit-requests.json'), 'utf8')) as readonly {
    readonly attempt: PlannedAttempt;
  }[];
  if (first === undefined) throw new Error('an adapter needs at least one attempt among its fixtures');
  const declared = Object.keys(adapter.extraFields ?? {});
  let upstream: ScriptedUpstream;

  beforeAll(async () => {
    upstream = await openScriptedUpstream();
  });
  afterAll(() => upstream.close());

  /** The upstream's request body for an order with these fields. */
  const bodyFor = async (extraJson: string | undefined): Promise<unknown> => {
    upstream.script({ status: 200, json: {} });
    const channel = channelFactory(adapter)(channelSettings({ adapter: name, baseUrl: upstream.url }), systemClock);
    await channel.submit({ ...first.attempt, extraJson }, new AbortController().signal);
    await channel.close();
    return upstream.requests[0]?.body;
  };

  describe('extra fields', () => {
    test.each(HOSTILE_NAMES)('include none that the adapter does not declare: %s', async (hostile) => {
      expect(declared).not.toContain(hostile);
      const members = ['"a text"', '7', 'true', JSON.stringify(ADDRESS), JSON.stringify({ url: ADDRESS })];

      for (const member of members)
        expect(await bodyFor(`{${JSON.stringify(hostile)}:${member}}`)).toEqual(await bodyFor(undefined));
    });

    test.each(HOSTILE_VALUES)('include none with %s', async (_what, value) => {
      const extra = JSON.stringify(Object.fromEntries(declared.map((field) => [field, value])));

      expect(await bodyFor(extra)).toEqual(await bodyFor(undefined));
    });

    test.each(['no JSON', '[1]', 'null', '"http://10.0.0.1"', '{"seed":'])(
      'are ignored when they are not an object: %s',
      async (json) => {
        expect(await bodyFor(json)).toEqual(await bodyFor(undefined));
      },
    );

    test('include no nested value and no address for any input', async () => {
      const plain = (await bodyFor(undefined)) as object;
      const names = fc.constantFrom(...declared, ...HOSTILE_NAMES);
      const values = fc.oneof(
        fc.jsonValue(),
        fc.webUrl(),
        fc.constantFrom(...HOSTILE_VALUES.map(([, value]) => value)),
        fc.integer({ min: 0, max: 100 }),
        fc.boolean(),
      );
      await fc.assert(
        fc.asyncProperty(fc.array(fc.tuple(names, values), { maxLength: 8 }), async (members) => {
          const sent = (await bodyFor(
            `{${members.map(([field, value]) => `${JSON.stringify(field)}:${JSON.stringify(value)}`).join(',')}}`,
          )) as object;
          const added = Object.entries(sent).filter(([field]) => !Object.hasOwn(plain, field));

          expect(sent).toMatchObject(plain);
          for (const [field, value] of added) {
            expect(declared).toContain(field);
            expect(['string', 'number', 'boolean']).toContain(typeof value);
            expect(String(value)).not.toMatch(/:\/\/|^\s*(data:|\/\/)/i);
          }
        }),
        { numRuns: 100 },
      );
    });
  });
}
