import type { VNode } from 'preact';
import { PageTitle } from '../parts/page-title.tsx';
import { words } from '../words.ts';

export function page(): VNode {
  const { title, text, home } = words.notFound;
  return (
    <>
      <PageTitle title={title} lead={text} />
      <p>
        <a class="button" href="/console">
          {home}
        </a>
      </p>
    </>
  );
}
