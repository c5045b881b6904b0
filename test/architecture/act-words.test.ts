import { expect, test } from '@jest/globals';
import { ACTIONS as BILLING_ACTIONS } from '../../services/billing/src/domain/act.ts';
import { operatorWords } from '../../services/gateway/console/pages/operator/operator-words.ts';
import { ACTIONS as TASKS_ACTIONS } from '../../services/tasks/src/store/operator-store.ts';

test('the console names exactly the acts that the services record', () => {
  expect(Object.keys(operatorWords.acts.names).toSorted()).toEqual([...TASKS_ACTIONS, ...BILLING_ACTIONS].toSorted());
});
