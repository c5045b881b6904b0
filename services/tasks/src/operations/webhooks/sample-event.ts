import type { EventType } from '../../domain/webhook.ts';
import type { WebhookDeps } from './webhook-deps.ts';

const MS = 1000;
/** Further members of the data of a sample, in the form of a real event. */
const DATA: Readonly<Partial<Record<EventType, object>>> = {
  'balance.low': { currency: 'USD', available: '1.23', last_credit: '20.00' },
};

/** An event with new ids that name nothing, as a thin delivery carries it. */
export function sampleEvent(
  { newId, clock }: Pick<WebhookDeps, 'newId' | 'clock'>,
  accountId: string,
  type: EventType,
): { readonly id: string; readonly body: string } {
  const subjects: Readonly<Record<EventType, () => string>> = {
    'video.completed': () => newId('task'),
    'video.failed': () => newId('task'),
    'job.completed': () => newId('job'),
    'job.failed': () => newId('job'),
    'balance.low': () => accountId,
  };
  const id = newId('evt');
  const data = { id: subjects[type](), ...DATA[type] };
  return {
    id,
    body: JSON.stringify({ object: 'event', id, type, created_at: Math.floor(clock.now() / MS), data }),
  };
}
