import type { VNode } from 'preact';
import { attentionWords } from '../attention-words.ts';
import { outcomeText } from './consequence.ts';
import { listRest } from './use-batch.ts';
import type { Batch, BatchRun } from './use-batch.ts';

const words = attentionWords.attention;

/** The outcome of each entry of a decision over several: decided, refused and why, or not decided. */
export function BatchResults({ run, batch, onNext }: { run: BatchRun; batch: Batch; onNext: () => void }): VNode {
  const rest = listRest(run);
  return (
    <>
      <h2 tabindex={-1}>{run.isRunning ? words.batch.running : words.batch.ended}</h2>
      <p>
        <progress max={run.ids.length} value={run.results.size} aria-label={words.batch.running} /> {summarize(run)}
      </p>
      {run.isRunning ? <p class="small quiet">{words.batch.leaving}</p> : null}
      <ul class="plain batch-results">
        {run.ids.map((id) => (
          <li key={id}>
            <Result id={id} run={run} />
          </li>
        ))}
      </ul>
      <div class="actions">
        {run.isRunning ? (
          <button key="stop" type="button" onClick={batch.stop}>
            {words.batch.stop}
          </button>
        ) : (
          <>
            {rest.length === 0 ? null : (
              <button key="rest" type="button" class="main" onClick={batch.tryRest}>
                {words.batch.tryRest(rest.length)}
              </button>
            )}
            <button key="next" type="button" class={rest.length === 0 ? 'main' : undefined} onClick={onNext}>
              {words.next}
            </button>
          </>
        )}
      </div>
    </>
  );
}

function Result({ id, run }: { id: string; run: BatchRun }): VNode {
  const result = run.results.get(id);
  const told = (
    <>
      <span class="id">{id}</span>
      {': '}
    </>
  );
  if (result === undefined)
    return (
      <>
        <span aria-hidden="true">○</span> {told}
        {run.isRunning ? words.batch.waiting : words.batch.notSent}
      </>
    );
  if (result.kind === 'decided')
    return (
      <>
        <span class="good" aria-hidden="true">
          ✓
        </span>{' '}
        {told}
        {outcomeText(result.answer.resolution, result.answer.money)}
      </>
    );
  const means = result.kind === 'refused' ? words.batch.refused : words.batch.failed;
  return (
    <>
      <span class="bad" aria-hidden="true">
        ✕
      </span>{' '}
      {told}
      {means(result.why)}
    </>
  );
}

/** The numbers of a run in words. */
export function summarize(run: BatchRun): string {
  const kinds = [...run.results.values()].map(({ kind }) => kind);
  const count = (wanted: string): number => kinds.filter((kind) => kind === wanted).length;
  return words.batch.summary({
    all: run.ids.length,
    decided: count('decided'),
    refused: count('refused'),
    rest: listRest(run).length,
  });
}
