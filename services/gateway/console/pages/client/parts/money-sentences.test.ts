import { describe, expect, test } from '@jest/globals';
import type { TaskMoney } from '../../../api/money.ts';
import { aTaskMoney, usd } from '../../../testing/a-task.ts';
import { moneySentences, termsText } from './money-line.tsx';

const told = (over: Partial<TaskMoney>): string => moneySentences(aTaskMoney(over), '768P', () => '19:02').join(' ');

describe('the money of a task in sentences', () => {
  test.each<[string, Partial<TaskMoney>, string]>([
    ['by usage', {}, 'Held $0.40 at 19:02 as estimated: 5 s × $0.08. Charged $0.40 by usage. Nothing returned.'],
    [
      'less than was held',
      { charged: usd('0.32'), returned: usd('0.08') },
      'Held $0.40 at 19:02 as estimated: 5 s × $0.08. Charged $0.32 by usage. $0.08 returned.',
    ],
    [
      'more than was held',
      { charged: usd('0.480000001') },
      'Held $0.40 at 19:02 as estimated: 5 s × $0.08. Charged $0.480000001 by usage. ' +
        'That is $0.080000001 above what was held.',
    ],
    [
      'released',
      { charged: usd('0'), basis: 'released', returned: usd('0.4') },
      'Held $0.40 at 19:02 as estimated: 5 s × $0.08. Nothing was charged. $0.40 returned.',
    ],
    [
      'running, under terms that are not known any more',
      { charged: undefined, basis: undefined, terms: undefined } as object,
      'Held $0.40 at 19:02 as estimated. It is charged when the task ends.',
    ],
    [
      'deferred',
      { charged: undefined, basis: 'deferred' } as object,
      'Held $0.40 at 19:02 as estimated: 5 s × $0.08. ' +
        'The charge waits for a decision, because the usage is far above what was held.',
    ],
  ])('%s', (_what, over, sentences) => {
    expect(told(over)).toBe(sentences);
  });
});

describe('how an estimate came about', () => {
  test.each<[string, Partial<TaskMoney>, string]>([
    ['one price for every resolution', { terms: { per_second: '0.05' } }, '5 s × $0.05'],
    ['images above the free ones', { facts: { seconds: 5, images: 7 } }, '5 s × $0.08 + 2 images × $0.04'],
    [
      'a reference video at the price of a second',
      { facts: { seconds: 5, input_video_seconds: 3 } },
      '5 s × $0.08 + 3 s of reference video × $0.08',
    ],
    [
      'tokens',
      {
        terms: { per_million_tokens: { input: '0.90', output: '3.60' } },
        facts: { input_tokens: 1200, output_tokens: 10 },
      },
      '1,200 input tokens × $0.90 per million + 10 output tokens × $3.60 per million',
    ],
    ['a hold for what is not known', { terms: { hold: '0.05' }, facts: {} }, ''],
  ])('%s', (_what, over, text) => {
    expect(termsText(aTaskMoney(over), '768P')).toBe(text);
  });
});
