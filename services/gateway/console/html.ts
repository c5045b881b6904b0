import { h } from 'preact';
import type { ComponentChildren, VNode } from 'preact';
import htm from 'htm';

export type { ComponentChildren, VNode };

type Template = (strings: TemplateStringsArray, ...values: unknown[]) => VNode;

/** Builds elements from a template. Values are text and never markup. */
export const html = (htm as unknown as { bind(create: typeof h): Template }).bind(h);
