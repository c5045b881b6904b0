import type { MethodDefinition } from '@grpc/grpc-js';
import { create } from '@bufbuild/protobuf';
import { describe, expect, test } from '@jest/globals';
import { service as published } from 'grpc-health-check';
import { toServiceDefinition } from './definition.ts';
import { HealthStatus, healthService } from './health-descriptor.ts';

type Method = MethodDefinition<unknown, unknown>;

const own = toServiceDefinition(healthService) as Readonly<Record<string, Method>>;
const { Check, Watch, List } = published as unknown as Readonly<Record<'Check' | 'Watch' | 'List', Method>>;

describe('health is served as the published contract has it', () => {
  test.each([
    ['check', Check],
    ['watch', Watch],
    ['list', List],
  ] as const)('%s has its path and its streams', (name, { path, requestStream, responseStream }) => {
    expect(own[name]).toMatchObject({ path, requestStream, responseStream });
  });

  test('a request for a service is read', () => {
    expect(own['check']!.requestDeserialize(Check.requestSerialize({ service: 'a.B' }))).toMatchObject({
      service: 'a.B',
    });
  });

  test.each(Object.entries(HealthStatus))('%s is read as itself, for one service and in a list', (status, number) => {
    const answer = create(healthService.method['check']!.output, { status: number });
    const list = create(healthService.method['list']!.output, { statuses: { a: answer } });

    expect(Check.responseDeserialize(own['check']!.responseSerialize(answer))).toEqual({ status });
    expect(List.responseDeserialize(own['list']!.responseSerialize(list))).toEqual({ statuses: { a: { status } } });
  });
});
