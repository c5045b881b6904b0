import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Report } from '../domain/report.ts';
import type { PollResult } from './channel.ts';
import { redactFailure } from './redact-failure.ts';

const UPSTREAM_ID = 'cgt-20260606160057-6bbjd';

function shown(message: string, code = 'failed'): { code: string; message: string } {
  const report: Report = { phase: 'failed', status: 'failed', failure: { code, message } };
  const polled = redactFailure({ found: true, report }, UPSTREAM_ID);
  return polled.found && polled.report.phase === 'failed' ? polled.report.failure : { code: '', message: '' };
}

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
  ])('does not contain %s', (_what, message, expected) => {
    expect(shown(message).message).toBe(expected);
  });

  test.each([
    'The output video may contain sensitive information.',
    'content[0].image_url must be an image of 300 to 6000 pixels',
    'the first_frame is 4.5 times too wide (2013)',
    'It took more than 120.5 seconds, e.g. at 1080p',
    '输出视频可能包含敏感信息 🦊',
  ])('is unchanged when it reveals nothing: %s', (message) => {
    expect(shown(message)).toEqual({ code: 'failed', message });
  });

  test('has a maximum length', () => {
    expect([...shown('🦊'.repeat(10_000)).message]).toHaveLength(500);
  });

  test('has a code only if it has the form of one', () => {
    expect(shown('no', 'INTERNAL.BAD_OUTPUT.CODE01').code).toBe('INTERNAL.BAD_OUTPUT.CODE01');
    expect(shown('no', 'see https://vendor.com').code).toBe('failed');
    expect(shown('no', UPSTREAM_ID).code).toBe('failed');
  });

  test('is computed in bounded time from any text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('a', '-', '.', '1', ':', '/', ' ', 'request', 'id'), maxLength: 5000 }),
        (message) => {
          expect(shown(message).message.length).toBeLessThanOrEqual(500);
        },
      ),
      { numRuns: 50 },
    );
  });
});

test.each<Report>([
  { phase: 'succeeded', status: 'completed', url: 'https://files.vendor.com/424010985738629.mp4' },
  { phase: 'running', status: 'running', progress: 4 },
  { phase: 'unrecognised', status: 'paused' },
])('a report of $phase is unchanged', (report) => {
  expect(redactFailure({ found: true, report }, UPSTREAM_ID)).toEqual({ found: true, report });
});

test('an error is unchanged, because only the operator reads it', () => {
  const polled: PollResult = { found: false, gone: false, error: 'HTTP 500 from https://vendor.com' };

  expect(redactFailure(polled, UPSTREAM_ID)).toBe(polled);
});
