import { describe } from '@jest/globals';
import { attemptsConformance } from './webhooks/attempts-conformance.ts';
import { deliveriesConformance } from './webhooks/deliveries-conformance.ts';
import { dispatchConformance } from './webhooks/dispatch-conformance.ts';
import { endpointsConformance } from './webhooks/endpoints-conformance.ts';
import { eventsConformance } from './webhooks/events-conformance.ts';
import { leasesConformance } from './webhooks/leases-conformance.ts';
import type { OpenWebhooks } from './webhooks/opened-webhooks.ts';
import { webhookRetentionConformance } from './webhooks/webhook-retention-conformance.ts';

/** The guarantees of every webhook store. */
export function webhookStoreConformance(open: OpenWebhooks): void {
  describe('endpoints and secrets', () => endpointsConformance(open));
  describe('events', () => eventsConformance(open));
  describe('the dispatch', () => dispatchConformance(open));
  describe('leases', () => leasesConformance(open));
  describe('attempts', () => attemptsConformance(open));
  describe('deliveries', () => deliveriesConformance(open));
  describe('retention and backlogs', () => webhookRetentionConformance(open));
}
