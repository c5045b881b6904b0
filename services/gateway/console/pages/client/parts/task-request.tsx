import type { VNode } from 'preact';
import type { Reference, SameCall, TaskView } from '../../../api/task.ts';
import { CodeBlock, CopyButton } from '../../../parts/copy-button.tsx';
import { Facts } from '../../../parts/data-table.tsx';
import type { Fact } from '../../../parts/data-table.tsx';
import { ExternalLink, SubjectLink } from '../../../parts/links.tsx';
import { Tabs } from '../../../parts/tabs.tsx';
import { At } from '../../../parts/time.tsx';
import { taskWords } from '../task-words.ts';
import { listVideoFacts } from './task-result.tsx';
import { words as common } from '../../../words.ts';

const words = taskWords.request;
const SOURCE = 'source_task_id';

/** Shows the order and its file of the batch. */
export function TaskRequest({ view }: { view: TaskView }): VNode {
  const { task } = view;
  return (
    <section>
      <h2>{words.title}</h2>
      {task.fullPrompt === '' ? null : (
        <div class="prompt">
          <p>{task.fullPrompt}</p>
          <CopyButton text={task.fullPrompt} what={words.prompt} />
        </div>
      )}
      <Facts facts={[...listRequestFacts(task), ...listVideoFacts(view)]} />
    </section>
  );
}

/** Shows the call that sends the order again. */
export function TaskCall({ call }: { call: SameCall | undefined }): VNode {
  return (
    <section>
      <h2>{words.call}</h2>
      {call === undefined ? <p class="quiet">{words.noCall}</p> : <CallTabs call={call} />}
    </section>
  );
}

function CallTabs({ call }: { call: SameCall }): VNode {
  const tabs = call.programs.map(({ id, text }) => ({
    id,
    name: words.programs[id],
    panel: () => <CodeBlock text={text} what={words.codeOf(words.programs[id])} />,
  }));
  return (
    <>
      <p class="small quiet">{words.callLead}</p>
      {call.isPartial ? <p class="note">{words.partial}</p> : null}
      <Tabs label={words.call} tabs={tabs} />
    </>
  );
}

function listRequestFacts(task: TaskView['task']): readonly Fact[] {
  const optional = (name: string, value: string | undefined) =>
    value === undefined || value === '' ? [] : [[name, value] as const];
  return [
    [words.kind, common.kinds[task.kind]],
    [words.model, task.model],
    ...optional(words.length, task.seconds > 0 ? words.seconds(task.seconds) : ''),
    ...optional(words.resolution, task.resolution),
    ...optional(words.ratio, task.ratio),
    ...Object.entries(task.settings).map(([name, value]) => toSettingFact(name, value)),
    ...(task.references.length === 0 ? [] : [[words.references, referenceList(task.references)] as const]),
    [words.created, <At at={task.createdAt} />],
    ...(task.label === undefined ? [] : [[words.label, labelLink(task.label)] as const]),
    ...optional(words.token, task.tokenName === '' ? task.tokenId : task.tokenName),
    ...optional(words.requestId, task.requestId),
  ];
}

/** Leads to all that has the label. */
function labelLink(label: string): VNode {
  return <a href={`/console/tasks?${new URLSearchParams({ label }).toString()}`}>{label}</a>;
}

function roleText(role: string, kind: Reference['kind']): string {
  const roles: Readonly<Record<string, string>> = words.roles;
  return roles[role === '' ? kind : role] ?? role;
}

/** The task that is rendered again has a page of its own. */
function toSettingFact(name: string, value: unknown): Fact {
  return name === SOURCE
    ? [words.source, <SubjectLink id={String(value)} />]
    : [words.settings[name] ?? name, settingText(value)];
}

function settingText(value: unknown): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

function referenceList(references: readonly Reference[]): VNode {
  return (
    <ul class="plain">
      {references.map(({ role, kind, url }) => (
        <li>
          {roleText(role, kind)}
          {': '}
          {url === undefined ? <span class="quiet">{words.inline}</span> : <ExternalLink url={url} />}
        </li>
      ))}
    </ul>
  );
}
