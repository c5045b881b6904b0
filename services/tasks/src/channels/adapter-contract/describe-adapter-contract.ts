import { listAnyAnswerCases } from './any-answer-cases.ts';
import { readContract } from './contract-bench.ts';
import type { AdapterSubject, ContractCase } from './contract-case.ts';
import { listExtraFieldCases } from './extra-field-cases.ts';
import { listCancelCases, listListCases, listTestCases } from './other-call-cases.ts';
import { listFindCases, listPollCases, listPollManyCases } from './poll-cases.ts';
import { listSubmitCases } from './submit-cases.ts';

/**
 * The guarantees of every adapter as a list: exact requests, an outcome for every answer, no exception, and no extra
 * field that it does not declare. Throws if the fixtures are not readable.
 */
export function describeAdapterContract(subject: AdapterSubject): readonly ContractCase[] {
  const contract = readContract(subject);
  return [
    ...listSubmitCases(contract),
    ...listPollCases(contract),
    ...listPollManyCases(contract),
    ...listFindCases(contract),
    ...listListCases(contract),
    ...listCancelCases(contract),
    ...listTestCases(contract),
    ...listAnyAnswerCases(contract),
    ...listExtraFieldCases(contract),
  ];
}
