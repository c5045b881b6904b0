import type { InputHTMLAttributes, PartialInputHTMLAttributes, VNode } from 'preact';

export interface LineInputProps extends Omit<PartialInputHTMLAttributes<HTMLInputElement>, 'role'> {
  readonly type: 'text' | 'url' | 'number' | 'date' | 'datetime-local';
}

/** An input of one line whose type is a value: the types of Preact have one set of attributes for each type. */
export function LineInput(props: LineInputProps): VNode {
  return <input {...(props as InputHTMLAttributes)} />;
}
