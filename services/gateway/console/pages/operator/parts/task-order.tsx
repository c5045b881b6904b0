import { Fragment } from 'preact';
import type { VNode } from 'preact';
import type { OperatorTaskView } from '../../../api/operator-tasks.ts';
import type { Reference } from '../../../api/task.ts';
import { ExternalLink } from '../../../parts/links.tsx';
import { recordWords } from '../record-words.ts';
import { FoldedText } from './folded-text.tsx';
import { orderLine } from './task-facts.tsx';
import { listLeaves } from './value-tree.tsx';

const words = recordWords.task;

/** Shows the client's order: the prompt, the media and the settings. */
export function TaskOrder({ task, text }: { task: OperatorTaskView['task']; text: string | undefined }): VNode {
  const { fullPrompt } = task;
  return (
    <>
      <p>{orderLine(task)}</p>
      <FoldedText text={fullPrompt === '' ? words.noPrompt : fullPrompt} name={words.order} />
      {text === undefined ? null : (
        <>
          <h3>{words.answer}</h3>
          <FoldedText text={text} name={words.answer} />
        </>
      )}
      <OrderMedia task={task} />
    </>
  );
}

/** The media and the settings of an order. */
export function OrderMedia({ task: { references, settings } }: { task: OperatorTaskView['task'] }): VNode | null {
  const set = Object.keys(settings).length === 0 ? [] : listLeaves(settings);
  if (references.length === 0 && set.length === 0) return null;
  return (
    <dl class="facts">
      {references.map((reference, at) => (
        <Fragment key={at}>
          <dt>{(reference.role === '' ? reference.kind : reference.role).replaceAll('_', ' ')}</dt>
          <dd>
            <Source reference={reference} />
          </dd>
        </Fragment>
      ))}
      {set.map(({ path, text: value }) => (
        <Fragment key={path}>
          <dt>{path}</dt>
          <dd>{value}</dd>
        </Fragment>
      ))}
    </dl>
  );
}

function Source({ reference: { kind, url } }: { reference: Reference }): VNode {
  return url === undefined ? <>{words.sentBytes(kind)}</> : <ExternalLink url={url} />;
}
