import type { VNode } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { CodeBlock } from './copy-button.tsx';

export interface SecretOnceProps {
  readonly title: string;
  readonly text: string;
  readonly secret: string;
  readonly what: string;
  readonly done: string;
  readonly onDone: () => void;
}

/** A secret that no later answer has. It stays until the visitor has put it away. */
export function SecretOnce({ title, text, secret, what, done, onDone }: SecretOnceProps): VNode {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => heading.current?.focus(), []);
  return (
    <section class="card secret">
      <h2 ref={heading} tabindex={-1}>
        {title}
      </h2>
      <p>{text}</p>
      <CodeBlock text={secret} what={what} />
      <button type="button" onClick={onDone}>
        {done}
      </button>
    </section>
  );
}
