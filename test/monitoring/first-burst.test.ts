import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newProgram } from '../harness/program.ts';
import type { Program } from '../harness/program.ts';
import { startScriptedUpstream } from '../harness/scripted-upstream.ts';
import type { ScriptedUpstream } from '../harness/scripted-upstream.ts';
import { alerts, recordings } from './rules-file.ts';

const TIMEOUT_MS = 120_000;
/** Counters, and the histogram whose counts an objective reads. */
const SELECTOR = /\b(reelgate_\w+(?:_total|_task_lag_seconds_count|_task_lag_seconds_bucket))\b(?:\{([^}]*)\})?/g;

type Matches = (labels: Readonly<Record<string, string>>) => boolean;

let upstream: ScriptedUpstream;
let program: Program;
let samples: readonly { readonly name: string; readonly labels: Readonly<Record<string, string>> }[] = [];

beforeAll(async () => {
  upstream = await startScriptedUpstream();
  program = await newProgram('one program', { upstream: upstream.host });
  await program.start();
  const answer = await fetch(`http://${program.config.gateway.admin}/metrics`);
  samples = [...(await answer.text()).matchAll(/^(\w+)(?:\{(.*)\})? \S+$/gm)].map(([, name = '', labels = '']) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, label, value]) => [label, value])),
  }));
}, TIMEOUT_MS);
afterAll(async () => {
  await program.end();
  await upstream.stop();
});

/** Whether the labels of a series are those that a selector asks for. */
const matcherOf = (selector: string): Matches => {
  const matchers = [...selector.matchAll(/(\w+)\s*(=~|!=|=)\s*"((?:[^"\\]|\\.)*)"/g)];
  return (labels) =>
    matchers.every(([, label = '', operator, pattern = '']) => {
      const value = labels[label] ?? '';
      if (operator === '=~') return new RegExp(`^(?:${pattern})$`).test(value);
      return operator === '=' ? value === pattern : value !== pattern;
    });
};

const selectors = [...alerts(), ...recordings()].flatMap(({ expr }) =>
  [...expr.matchAll(SELECTOR)].map(([, name = '', matchers = '']): [string, string] => [name, matchers.trim()]),
);

test('rules read counters', () => {
  expect(selectors.length).toBeGreaterThan(10);
});

test.each(selectors)('%s{%s} has a series before anything was counted', (name, matchers) => {
  const matches = matcherOf(matchers);

  expect(samples.filter((sample) => sample.name === name && matches(sample.labels))).not.toEqual([]);
});
