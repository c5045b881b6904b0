import assert from 'node:assert/strict';
import type { ExtraField } from '@reelgate/adapter-kit';
import { toAttempt } from '../adapter-channel.ts';
import { drawFrom, drawJson, pickOne } from './any-answer-cases.ts';
import type { Draw } from './any-answer-cases.ts';
import { assertHolds, assertSame, pureCase, readContract } from './contract-bench.ts';
import type { Contract } from './contract-bench.ts';
import { readCases } from './contract-case.ts';
import type { AdapterSubject, ContractCase, SubmitRequestCase } from './contract-case.ts';
import type { PlannedAttempt } from '../channel.ts';

const ORDERS = 100;
const MEMBERS_MAX = 8;
const SEED = 19_700_101;
const ADDRESS = 'http://169.254.169.254/latest';
/** Field names under which an upstream may take a media file, a URL, a cost or one of our own fields. */
const HOSTILE_NAMES: readonly string[] = [
  ...['image', 'images', 'image_url', 'image_urls', 'first_frame', 'first_frame_url', 'first_frame_image'],
  ...['last_frame', 'last_frame_url', 'image_tail', 'input_reference', 'reference_images'],
  ...['reference_image_urls', 'subject_reference', 'promptImage', 'video', 'videos', 'video_url', 'audio'],
  ...['audio_url', 'file_id', 'files', 'media', 'content', 'references', 'metadata', 'extra', 'extra_body'],
  ...['parameters', 'input', 'callback_url', 'callback', 'webhook', 'webhook_url', 'notify_hook', 'n'],
  ...['quality', 'mode', 'fps', 'model', 'prompt', 'seconds', 'size', 'duration', 'resolution', 'ratio'],
  ...['source_task_id', 'action', 'user_id', '__proto__', 'constructor', 'prototype', 'toString'],
  ...['hasOwnProperty'],
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
const NO_OBJECTS: readonly string[] = ['no JSON', '[1]', 'null', '"http://10.0.0.1"', '{"seed":'];

/** The cases that an adapter passes on the extra fields that it declares, and never a media file. */
export function listExtraFieldCases(contract: Contract): readonly ContractCase[] {
  const declared = Object.keys(contract.subject.adapter.extraFields ?? {});
  const plain = (): Promise<object> => buildBody(contract, undefined);
  const assertNothingAdded = async (extraJson: string): Promise<void> => {
    assertSame(await buildBody(contract, extraJson), await plain());
  };
  return [
    ...HOSTILE_NAMES.map((hostile) =>
      pureCase(`extra fields include none that the adapter does not declare: ${hostile}`, async () => {
        assert.ok(!declared.includes(hostile), `the adapter declares ${hostile}`);
        const members = ['"a text"', '7', 'true', JSON.stringify(ADDRESS), JSON.stringify({ url: ADDRESS })];

        for (const member of members) await assertNothingAdded(`{${JSON.stringify(hostile)}:${member}}`);
      }),
    ),
    ...HOSTILE_VALUES.map(([what, value]) =>
      pureCase(`extra fields include none with ${what}`, () =>
        assertNothingAdded(JSON.stringify(Object.fromEntries(declared.map((field) => [field, value])))),
      ),
    ),
    ...NO_OBJECTS.map((json) =>
      pureCase(`extra fields are ignored when they are not an object: ${json}`, () => assertNothingAdded(json)),
    ),
    ...readCases<SubmitRequestCase>(contract.subject, 'submit-requests').map(({ name, attempt }) =>
      pureCase(`extra fields that it takes are in the request for ${name}`, () => assertAllSent(contract, attempt)),
    ),
    pureCase('extra fields include no nested value and no address for any input', async () => {
      const draw = drawFrom(SEED);
      for (let made = 0; made < ORDERS; made += 1) {
        const body = await buildBodyIfFit(contract, drawExtra(draw, declared));
        if (body !== undefined) assertHarmless(body, await plain(), declared);
      }
    }),
  ];
}

/** Refuses an adapter that has no body for the first attempt of its fixtures, which the cases compare others with. */
export async function checkFirstAttempt(subject: AdapterSubject): Promise<void> {
  await buildBody(readContract(subject), undefined);
}

/** Values of each type, of which at least one is no default. */
const SAMPLES: { readonly [T in ExtraField['type']]: (field: Extract<ExtraField, { type: T }>) => readonly unknown[] } =
  {
    whole: ({ least, most }) => [least, most],
    number: ({ least, most }) => [least, most],
    flag: () => [false, true],
    word: ({ words }) => words,
    text: () => ['x'],
  };

/** Asserts that each field that the adapter says to take changes the request, with one of its values at least. */
async function assertAllSent(contract: Contract, attempt: PlannedAttempt): Promise<void> {
  const { extraFields = {} } = contract.subject.adapter;
  const plain = JSON.stringify(await buildBody(contract, undefined, attempt));
  for (const name of contract.calls.listExtra?.(attempt) ?? Object.keys(extraFields)) {
    const field = extraFields[name];
    assert.ok(field !== undefined, `${name} is not declared`);
    const samples = SAMPLES[field.type] as (field: ExtraField) => readonly unknown[];
    const bodies = await Promise.all(
      samples(field).map((value) => buildBodyIfFit(contract, JSON.stringify({ [name]: value }), attempt)),
    );
    assert.ok(
      bodies.some((body) => body !== undefined && JSON.stringify(body) !== plain),
      `${name} is taken and not sent`,
    );
  }
}

/** The body for an attempt, by default the first one of the fixtures, with these fields. It is all that is sent. */
async function buildBody(
  contract: Contract,
  extraJson: string | undefined,
  attempt = contract.attempt,
): Promise<object> {
  const request = await buildRequest(contract, extraJson, attempt);
  if ('unfit' in request) throw new Error(`submit-requests.json: the adapter refuses an attempt: ${request.unfit}`);
  return request.json ?? request.form ?? {};
}

/**
 * Undefined if the adapter refuses a value of a field next to the rest of the order, so it never leaves a value out.
 */
async function buildBodyIfFit(
  contract: Contract,
  extraJson: string,
  attempt = contract.attempt,
): Promise<object | undefined> {
  const request = await buildRequest(contract, extraJson, attempt);
  return 'unfit' in request ? undefined : (request.json ?? request.form ?? {});
}

async function buildRequest({ subject, calls }: Contract, extraJson: string | undefined, attempt: PlannedAttempt) {
  return calls.buildSubmit(toAttempt(subject.adapter, { ...attempt, extraJson }));
}

function drawExtra(draw: Draw, declared: readonly string[]): string {
  const members = Array.from({ length: draw(MEMBERS_MAX + 1) }, () => {
    const name = pickOne(draw, [...declared, ...HOSTILE_NAMES]);
    const values = [drawJson(draw), pickOne(draw, HOSTILE_VALUES)[1], draw(101), draw(2) === 1];
    return `${JSON.stringify(name)}:${JSON.stringify(pickOne(draw, values))}`;
  });
  return `{${members.join(',')}}`;
}

/**
 * Asserts that a body is the plain one, and that an added member is no address and has no name of a media file. An
 * upstream can have other names for declared fields, also inside a member of its own.
 */
function assertHarmless(sent: object, plain: object, declared: readonly string[]): void {
  assertHolds(sent, plain);
  for (const [field, value] of Object.entries(sent).filter(([name]) => !Object.hasOwn(plain, name))) {
    const isOther = !HOSTILE_NAMES.includes(field) || typeof value === 'boolean';
    assert.ok(declared.includes(field) || isOther, `${field} is not declared`);
    assert.doesNotMatch(JSON.stringify(value), /:\/\/|"\s*(data:|\/\/)/i);
  }
}
