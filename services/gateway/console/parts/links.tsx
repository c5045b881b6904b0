import type { VNode } from 'preact';

/** A URL that somebody sent: a link if it leads to the web, else its text. */
export function ExternalLink({ url }: { url: string }): VNode {
  return isWeb(url) ? (
    <a href={url} rel="noreferrer noopener" target="_blank">
      {url}
    </a>
  ) : (
    <span>{url}</span>
  );
}

function isWeb(url: string): boolean {
  return URL.canParse(url) && /^https?:$/.test(new URL(url).protocol);
}

/** Shows the subject of an event. A task has a page. */
export function SubjectLink({ id }: { id: string }): VNode {
  return id.startsWith('task_') ? (
    <a class="id" href={`/console/tasks/${encodeURIComponent(id)}`}>
      {id}
    </a>
  ) : (
    <span class="id">{id}</span>
  );
}
