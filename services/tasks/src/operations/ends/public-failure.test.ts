import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { toPublicFailure, toUpstreamFailure } from './public-failure.ts';

const UPSTREAM_ID = 'cgt-20260606160057-6bbjd';
const shown = (message: string, code = 'failed') => toPublicFailure({ code, message }, UPSTREAM_ID);

describe('the text of a failure that a client reads', () => {
  test.each([
    ['a request id', 'sensitive. Request id: 0217882536596960', 'sensitive. …'],
    ['two request ids', 'no. ARKRequest ID:021788;CSDRequestId:abc;Label:x', 'no. …;…;Label:x'],
    ['the id of the work', `task ${UPSTREAM_ID} failed`, 'task … failed'],
    ['another id of that kind', 'after video_68d7512d07848190b3e45da0ecbebcde failed', 'after … failed'],
    ['a UUID', 'in 17f20503-6c24-4c16-946b-35dbbce2af2f.', 'in ….'],
    ['a long number', 'task 424010985738629', 'task …'],
    ['an address', 'could not read https://api.vendor.com/v1/x?key=1, sorry', 'could not read … sorry'],
    ['a host', 'no route to api-3.eu.vendor.com:443/v1', 'no route to …'],
    ['a machine', 'dial 10.2.3.4:8080 refused', 'dial … refused'],
    ['a data URL', 'bad image data:image/png;base64,iVBORw0KGgo=', 'bad image …'],
    ['the name of a model upstream', 'doubao-seedance-2-0-260128 is busy', '… is busy'],
    ['a short name of a model upstream', 'kling-v2 is busy', '… is busy'],
    ['the name of a vendor', 'Google Veo 3.1 cannot do this', 'the generator cannot do this'],
    ["a vendor's name in its language", '火山方舟繁忙', 'the generator繁忙'],
    [
      'a support code',
      'Veo could not make the video. Try rephrasing the prompt. If you think this was an error, send feedback. ' +
        'Support codes: 29310472',
      'the generator could not make the video. Try rephrasing the prompt.',
    ],
    ['whom to ask', 'Quota used up. Please contact your Google representative.', 'Quota used up.'],
    ['an address of mail', 'no face was found, ask help@vendor.example', 'no face was found, ask …'],
    ['a sentence about charges of the upstream', 'Too fast. You have not been charged for this.', 'Too fast.'],
    ['a code in brackets', 'Prediction interrupted; please retry (code: PA)', 'Prediction interrupted; please retry'],
    ['a code as a vendor spells it', 'InternalError: the model broke', 'the model broke'],
    ['another code as a vendor spells it', 'INPUT_PREPROCESSING.SAFETY.TEXT: no', 'no'],
  ])('does not contain %s', (_what, message, expected) => {
    expect(shown(message).message).toBe(expected);
  });

  test.each([
    'The output video may contain nothing of that kind.',
    'content[0].image_url must be an image of 300 to 6000 pixels',
    'the first_frame is 4.5 times too wide (2013)',
    'It took more than 120.5 seconds, e.g. at 1080p',
    'the runway in the picture is too dark',
    '输出视频为空 🦊',
  ])('is unchanged when it reveals nothing: %s', (message) => {
    expect(shown(message)).toEqual({ code: 'failed', message });
  });

  test.each([
    ['failed', 'https://vendor.com', 'the generator ended the task without a result'],
    ['safety', 'Contact support.', 'the generator refused the content'],
    ['safety', 'Failure to pass the risk control system', 'the generator refused the content'],
    ['image_too_small', 'Support code: 12', 'the generator could not use the media of this task'],
    ['InvalidParameter.X', 'ValueError', 'the generator refused the parameters of this task'],
  ])('that has the code %s and no word to show says what the code says: %s', (code, message, expected) => {
    expect(shown(message, code).message).toBe(expected);
  });

  test('has a maximum length', () => {
    expect([...shown('🦊 and '.repeat(10_000)).message]).toHaveLength(500);
  });

  test('is computed in bounded time from any text', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.constantFrom('a', 'A', '-', '.', '1', ':', '/', ' ', 'request', 'id', 'Error', 'Google', '@', '('),
          maxLength: 5000,
        }),
        (message) => {
          expect(shown(message).message.length).toBeLessThanOrEqual(500);
        },
      ),
      { numRuns: 50 },
    );
  });
});

describe('the code of a failure that a client reads', () => {
  test.each([
    ['content_rejected', 'content_rejected'],
    ['1026', '1026'],
    ['cancelled', 'cancelled'],
    ['canceled', 'cancelled'],
    ['no_result', 'no_result'],
    ['moderation_blocked', 'content_rejected'],
    ['OutputVideoSensitiveContentDetected', 'content_rejected'],
    ['DataInspectionFailed', 'content_rejected'],
    ['IPInfringementSuspect', 'content_rejected'],
    ['INPUT_PREPROCESSING.SAFETY.TEXT', 'content_rejected'],
    ['CreationPolicyViolation', 'content_rejected'],
    ['image_too_large', 'invalid_media'],
    ['ASSET.INVALID', 'invalid_media'],
    ['unsupported_video_format', 'invalid_media'],
    ['InvalidParameter.TaskTypeConstraint', 'invalid_request'],
    ['greater_than_equal', 'invalid_request'],
    ['generation_timeout', 'upstream_timeout'],
    ['job_expired', 'expired'],
    ['InternalError', 'failed'],
    ['INTERNAL.BAD_OUTPUT.CODE01', 'failed'],
    ['internal_error', 'failed'],
    ['operator', 'failed'],
    ['13', 'failed'],
    ['see https://vendor.com', 'failed'],
    [UPSTREAM_ID, 'failed'],
  ])('for %s is %s', (code, expected) => {
    expect(shown('no', code).code).toBe(expected);
  });

  test('is that of refused content if the words say so', () => {
    expect(shown('stopped: the prompt violates the content policy').code).toBe('content_rejected');
  });
});

test('an operator reads the words of the upstream, within a bound', () => {
  const failure = { code: 'InternalError', message: 'ask Google: https://vendor.com' };

  expect(toUpstreamFailure(failure)).toEqual(failure);
  expect(toUpstreamFailure({ code: 'x'.repeat(100), message: 'y'.repeat(9000) })).toEqual({
    code: 'x'.repeat(64),
    message: 'y'.repeat(2000),
  });
});
