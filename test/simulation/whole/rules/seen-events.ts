import type { Acts } from '../acts.ts';
import type { Delivery } from '../receivers.ts';
import type { BreakRule, ExpectNone, ReadStore } from './read-stores.ts';

/** What receivers of webhooks and clients of streams have seen. */
export interface SeenEvents {
  /** A receiver of webhooks has taken a delivery in. */
  delivered(delivery: Delivery): void;
  /** An event has come on a stream. `body` is what a webhook would have. */
  heard(body: string): void;
  wasHeard(subject: string): boolean;
  /** Forgets the ids of the events that came later. */
  forgetSince(since: number): void;
  /** Judges the deliveries of the store at the end of a run. */
  checkEnd(read: ReadStore, expectNone: ExpectNone, now: number): void;
}

/** A receiver that fails is asked again after this time at most, as long as its task is recent. */
const DUE_MS_MAX = 120_000;

/** Deliveries that nothing will send, or that have ended without one. */
const LOST_EVENTS = `SELECT t.id, t.webhook_url FROM tasks t
  WHERE t.webhook_url IS NOT NULL AND t.finished_at IS NOT NULL AND t.admission <> 'refused'
    AND NOT EXISTS (SELECT 1 FROM webhook_deliveries d WHERE d.subject_id = t.id AND d.url = t.webhook_url)`;
const STUCK_DELIVERIES = "SELECT id, subject_id FROM webhook_deliveries WHERE state = 'pending' AND due_at IS NULL";
const OVERDUE = `SELECT id, subject_id, url, due_at FROM webhook_deliveries
  WHERE state = 'pending' AND due_at < CAST(? AS INTEGER)`;
const DELIVERED = `SELECT d.event_id, COALESCE(d.url, e.url) AS url FROM webhook_deliveries d
  LEFT JOIN webhook_endpoints e ON e.id = d.endpoint_id WHERE d.state = 'delivered'`;

export interface SeenEventsOptions {
  readonly breakRule: BreakRule;
  readonly now: () => number;
  readonly acts: Acts;
}

/** An event has one id for a subject, and one subject. */
export function openSeenEvents({ breakRule, now, acts }: SeenEventsOptions): SeenEvents {
  const idOfSubject = new Map<string, { readonly id: string; readonly at: number }>();
  const bodies = new Map<string, string>();
  const answered = new Set<string>();
  const heard = new Set<string>();
  return {
    delivered: ({ url, id, body, isAnswered }) => {
      const subject = readSubject(body);
      const known = idOfSubject.get(subject);
      if (known !== undefined && known.id !== id)
        breakRule('an event has one id', `${subject} comes as ${known.id} and as ${id}`);
      if (known === undefined) idOfSubject.set(subject, { id, at: now() });
      const before = bodies.get(id);
      if (before !== undefined && before !== subject)
        breakRule('an event has one subject', `${id} is ${before}, then ${subject}`);
      bodies.set(id, subject);
      if (!isAnswered) return;
      answered.add(`${id} ${url}`);
      acts.note('a webhook is delivered');
    },
    heard: (body) => {
      heard.add(readSubject(body));
      acts.note('a stream hears an event');
    },
    forgetSince: (since) => {
      for (const [subject, { at }] of idOfSubject) if (at > since) idOfSubject.delete(subject);
    },
    wasHeard: (subject) => heard.has(subject),
    checkEnd: (read, expectNone, now) => {
      expectNone('the end of a task with a webhook has a delivery', read('tasks', LOST_EVENTS));
      expectNone('a pending delivery has a time', read('tasks', STUCK_DELIVERIES));
      expectNone('a due delivery is sent', read('tasks', OVERDUE, String(now - DUE_MS_MAX)));
      expectNone(
        'a delivered event has arrived',
        read('tasks', DELIVERED).filter(
          ({ event_id: id, url }) => url !== null && !answered.has(`${String(id)} ${String(url)}`),
        ),
      );
    },
  };
}

/** Returns the type of an event, and what it is about. */
function readSubject(body: string): string {
  const { type, data } = JSON.parse(body) as { readonly type: string; readonly data: { readonly id: string } };
  return `${type} ${data.id}`;
}
