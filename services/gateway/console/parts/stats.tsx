import type { ComponentChildren, VNode } from 'preact';

export interface Stat {
  readonly name: string;
  readonly value: ComponentChildren;
  /** A line under the figure, such as a share or a link. */
  readonly note?: ComponentChildren;
}

/** Figures beside each other, each in a card with its name above it. */
export function Stats({ stats }: { stats: readonly Stat[] }): VNode {
  return (
    <dl class="figures">
      {stats.map(({ name, value, note }) => (
        <div class="card" key={name}>
          <dt>{name}</dt>
          <dd class="figure">{value}</dd>
          {note === undefined ? null : <dd class="small quiet">{note}</dd>}
        </div>
      ))}
    </dl>
  );
}
