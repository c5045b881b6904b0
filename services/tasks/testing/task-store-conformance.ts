import { describe } from '@jest/globals';
import { attemptsConformance } from './store/attempts-conformance.ts';
import { attentionConformance } from './store/attention-conformance.ts';
import { backlogConformance } from './store/backlog-conformance.ts';
import { changesConformance } from './store/changes-conformance.ts';
import { createsConformance } from './store/creates-conformance.ts';
import { deadlinesConformance } from './store/deadlines-conformance.ts';
import { filtersConformance } from './store/filters-conformance.ts';
import { movesConformance } from './store/moves-conformance.ts';
import type { OpenStore } from './store/opened-store.ts';
import { readsConformance } from './store/reads-conformance.ts';
import { retentionConformance } from './store/retention-conformance.ts';
import { selfChecksConformance } from './store/self-checks-conformance.ts';

/** The guarantees of every task store. */
export function taskStoreConformance(open: OpenStore): void {
  describe('creates', () => createsConformance(open));
  describe('attempts', () => attemptsConformance(open));
  describe('moves', () => movesConformance(open));
  describe('reads', () => readsConformance(open));
  describe('filters', () => filtersConformance(open));
  describe('changes', () => changesConformance(open));
  describe('backlogs', () => backlogConformance(open));
  describe('deadlines', () => deadlinesConformance(open));
  describe('self checks', () => selfChecksConformance(open));
  describe('retention', () => retentionConformance(open));
  describe('attention and processes', () => attentionConformance(open));
}
