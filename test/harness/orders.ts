import { TaskKind } from '@reelgate/proto/tasks/v1/order';

/** A generation of five seconds in the vendor's shape, which costs 40 cents in every test program. */
export function aGeneration(text: string): object {
  return { model: 'Alpha-H3', content: [{ type: 'text', text }], duration: 5, resolution: '768P', ratio: '16:9' };
}

/** The same generation as an order over gRPC. Its task never ends at the sandbox. */
export function anEndlessOrder(over: object = {}) {
  return {
    kind: TaskKind.GENERATION,
    model: 'Alpha-H3',
    content: [{ item: { case: 'text' as const, value: 'a red boat [never]' } }],
    duration: 5,
    resolution: '768P',
    ratio: '16:9',
    ...over,
  };
}
