import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { TextField } from '../../../parts/text-field.tsx';
import { tryWords } from '../try-words.ts';
import { parseOrder } from './try-order.ts';
import type { Order } from './try-order.ts';

const words = tryWords.json;
const ROWS = 18;

export interface OrderJsonProps {
  readonly order: Order;
  /** Undefined if the text is no order. */
  readonly onChange: (order: Order | undefined) => void;
  readonly fault: string | undefined;
}

/** The order as the body of the call. */
export function OrderJson({ order, onChange, fault }: OrderJsonProps): VNode {
  const [text, setText] = useState(() => JSON.stringify(order, null, 2));
  const parsed = parseOrder(text);
  const invalid = 'fault' in parsed ? words.invalid(parsed.fault === '' ? words.noObject : parsed.fault) : undefined;
  return (
    <div class="json-field">
      <TextField
        label={words.label}
        value={text}
        rows={ROWS}
        hint={words.hint}
        fault={invalid ?? fault}
        onInput={(value) => {
          setText(value);
          const read = parseOrder(value);
          onChange('order' in read ? read.order : undefined);
        }}
      />
    </div>
  );
}
