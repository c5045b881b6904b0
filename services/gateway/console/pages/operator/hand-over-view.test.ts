import { expect, test } from '@jest/globals';
import { h } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { textOf } from '../../testing/text-of.ts';
import { HandOverPage } from './hand-over.tsx';
import type { HandOver, HandOverList } from './hand-over.tsx';

const iso = (at: number): string => new Date(at).toISOString();
const handOver: HandOver = { ...{ since: iso(0), now: iso(60_000) }, events: [], raised: [], hasMore: false };
const list: HandOverList = {
  entries: [
    { kind: 'event', at: 60_000, type: 'configuration_applied', subject: '', services: ['billing', 'gateway'] },
    { kind: 'event', at: 50_000, type: 'circuit_opened', subject: 'chat-a' },
    { kind: 'event', at: 40_000, type: 'of_a_later_release', subject: '' },
  ],
  ...{ hasMore: false, areActsUnread: false },
};
const show = (changes: Partial<HandOverList> = {}): string =>
  renderToString(h(HandOverPage, { handOver, list: { ...list, ...changes }, you: 'ada', onRead: () => undefined }));

test('a configuration names the services that took it up, and a circuit leads to its channel', () => {
  const shown = show();

  expect(textOf(shown)).toContain('Configuration applied billing, gateway');
  expect(shown).toContain('href="/console/channels/chat-a"');
  expect(textOf(shown)).toContain('of_a_later_release –');
});

test('a list without the acts says so, and cannot be marked as read', () => {
  const [whole, partial] = [show(), show({ areActsUnread: true })];

  expect(whole).not.toMatch(/<button[^>]*disabled/);
  expect(partial).toMatch(/<button[^>]*disabled/);
  expect(textOf(partial)).toContain('this list is not whole');
});
