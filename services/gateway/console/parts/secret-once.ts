import { useEffect, useRef } from 'preact/hooks';
import { html } from '../html.ts';
import type { VNode } from '../html.ts';
import { CodeBlock } from './copy-button.ts';

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
  useEffect(() => {
    heading.current?.focus();
  }, []);
  return html`<section class="card secret">
    <h2 ref=${heading} tabindex="-1">${title}</h2>
    <p>${text}</p>
    <${CodeBlock} text=${secret} what=${what} />
    <button type="button" onClick=${onDone}>${done}</button>
  </section>`;
}
