import { expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { ApiError } from '../state/api.ts';
import type { View } from '../state/use-view.ts';
import { Loaded, OutageBanner, outageText } from './loaded.tsx';
import { clockText } from './time.tsx';

const AT = Date.UTC(2026, 0, 1, 3, 12, 45);
const TIME = clockText(AT);

test.each([
  [{ kind: 'silent', status: 0, since: AT }, `No answer from the server since ${TIME}; what you see is from then.`],
  [{ kind: 'silent', status: 0, since: undefined }, 'No answer from the server.'],
  [
    { kind: 'failing', status: 503, since: AT },
    `The server answers with an error (503) since ${TIME}; what you see is from then.`,
  ],
  [{ kind: 'failing', status: 502, since: undefined }, 'The server answers with an error (502).'],
  [{ kind: 'slow', status: 0, since: undefined }, 'The server does not answer this page in time.'],
] as const)('of %j the banner says what is wrong, and since when', (outage, text) => {
  expect(outageText(outage)).toBe(text);
});

test('the place of the banner is there before an outage, so that a screen reader speaks what comes into it', () => {
  expect(renderToString(h(OutageBanner, { outage: undefined }))).toBe('<div role="status" class="outage-place"></div>');
});

const error = (status: number): ApiError =>
  new ApiError('no', { status, code: '', field: undefined, requestId: undefined });
const view = (over: Partial<View<string>>): View<string> => ({
  data: undefined,
  error: undefined,
  isLoading: false,
  readAt: AT,
  refresh: () => undefined,
  ...over,
});
const draw = (over: Partial<View<string>>): string =>
  renderToString(h(Loaded<string>, { view: view(over), children: (data) => h('p', {}, data) }));

test('what was read before an outage stays, says from when it is, and is told by no second alert', () => {
  const drawn = draw({ data: 'old news', error: error(503) });

  expect(drawn).toContain('<div class="loaded old"><p>old news</p></div>');
  expect(drawn).toContain(`As of ${TIME}`);
  expect(drawn).not.toContain('role="alert"');
});

test('a page that was never read says so, and that it is tried again', () => {
  const drawn = draw({ error: error(0), isLoading: true });

  expect(drawn).toContain('Nothing of this page could be read yet.');
  expect(drawn).not.toContain('Loading');
});

test('a refusal that is no outage is told beside what was read, which is not old', () => {
  const drawn = draw({ data: 'news', error: error(429) });

  expect(drawn).toContain('role="alert"');
  expect(drawn).toContain('<div class="loaded"><p>news</p></div>');
});

test('a page of two views is drawn once both are read or refused, so it does not move', () => {
  const drawAlongside = (other: Pick<View<unknown>, 'data' | 'error'>): string =>
    renderToString(
      h(Loaded<string>, { view: view({ data: 'news' }), alongside: [other], children: (data) => h('p', {}, data) }),
    );

  expect(drawAlongside({ data: undefined, error: undefined })).toContain('Loading');
  expect(drawAlongside({ data: undefined, error: undefined })).not.toContain('news');
  expect(drawAlongside({ data: {}, error: undefined })).toContain('<p>news</p>');
  expect(drawAlongside({ data: undefined, error: error(403) })).toContain('<p>news</p>');
});
