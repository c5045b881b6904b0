import { h } from 'preact';
import type { ComponentChildren, VNode } from 'preact';
import htm from 'htm';
import { toBrowserPath } from './state/root.ts';

export type { ComponentChildren, VNode };

/** The attributes of an element that hold an address. */
const ADDRESSES = ['href', 'src', 'action', 'poster'] as const;
const OWN_PATH = /^\/(console|docs)(?=$|[/?#])/;

type Props = Readonly<Record<string, unknown>> | null;
type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

/** Creates an element, or a component, whose elements have the addresses that the browser needs. */
function create(type: string, props: Props, ...children: ComponentChildren[]): VNode {
  if (typeof type !== 'string' || props === null) return h(type, props, ...children);
  const own = ADDRESSES.flatMap((name) => {
    const path = props[name];
    return typeof path === 'string' && OWN_PATH.test(path) ? [[name, toBrowserPath(path)] as const] : [];
  });
  return h(type, own.length === 0 ? props : { ...props, ...Object.fromEntries(own) }, ...children);
}

/** Builds elements from a template. Values are text and never markup. Paths of this service get the prefix of a proxy. */
export const html = (htm as unknown as { bind(element: typeof create): Template }).bind(create);
