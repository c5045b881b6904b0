import type { VNode } from 'preact';
import { recordWords } from '../record-words.ts';

export interface Leaf {
  /** Such as `channels[1].limits.in_flight`. */
  readonly path: string;
  readonly text: string;
}

/** Renders a value as a tree with collapsible branches. */
export function ValueTree({ value }: { value: unknown }): VNode {
  return (
    <ul class="tree">
      {listEntries(value).map(([name, child]) => (
        <li key={name}>
          <Branch name={name} value={child} />
        </li>
      ))}
    </ul>
  );
}

function Branch({ name, value }: { name: string; value: unknown }): VNode {
  const children = listEntries(value);
  if (children.length === 0)
    return (
      <code>
        {name}: <strong>{leafText(value)}</strong>
      </code>
    );
  return (
    <details>
      <summary>
        <code>
          {name}
          {readTitle(value)}
        </code>{' '}
        <span class="small quiet">{recordWords.configuration.keys(children.length)}</span>
      </summary>
      <ValueTree value={value} />
    </details>
  );
}

/** An entry of a list is known by its id or name. */
function readTitle(value: unknown): string {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return '';
  const { id, name, key } = value as Readonly<Record<string, unknown>>;
  const title = [id, name, key].find((each) => typeof each === 'string');
  return typeof title === 'string' ? ` ${title}` : '';
}

function listEntries(value: unknown): readonly (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).map(([name, child]) => [Array.isArray(value) ? `[${name}]` : name, child] as const);
}

/** Every value that has no parts, with the path that leads to it. */
export function listLeaves(value: unknown, path = ''): readonly Leaf[] {
  const entries = listEntries(value);
  if (entries.length === 0) return [{ path, text: leafText(value) }];
  return entries.flatMap(([name, child]) =>
    listLeaves(child, name.startsWith('[') || path === '' ? `${path}${name}` : `${path}.${name}`),
  );
}

/** A value on one line, as JSON writes it. */
export function leafText(value: unknown): string {
  if (value === undefined) return recordWords.configuration.absent;
  return typeof value === 'string' ? value : JSON.stringify(value);
}

/** Leaves with their paths, not as a tree. */
export function LeafList({ leaves }: { leaves: readonly Leaf[] }): VNode {
  return (
    <dl class="leaves">
      {leaves.map(({ path, text }) => (
        <div key={path}>
          <dt>
            <code>{path}</code>
          </dt>
          <dd>
            <code>{text}</code>
          </dd>
        </div>
      ))}
    </dl>
  );
}
