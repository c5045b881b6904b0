import { html } from '../../../html.ts';
import type { VNode } from '../../../html.ts';
import { SelectField } from '../../../parts/select-field.ts';
import { tryWords } from '../try-words.ts';
import { bytesText } from './bytes-text.ts';
import { ROLES } from './try-order.ts';
import type { OrderMedia, Upload } from './try-order.ts';

const words = tryWords.references;

export interface ReferenceItemProps {
  readonly media: OrderMedia;
  /** Undefined: the order names a URL. */
  readonly upload: Upload | undefined;
  readonly onRole: (role: string) => void;
  readonly onRemove: () => void;
}

/** A reference with its role. An image that was added is shown; of others the name, the size and the type. */
export function ReferenceItem({ media, upload, onRole, onRemove }: ReferenceItemProps): VNode {
  const { kind, role, url } = media;
  const name = upload?.name ?? url;
  const names: Readonly<Record<string, string>> = words.roles;
  const roles = ROLES[kind].includes(role) ? ROLES[kind] : [role, ...ROLES[kind]];
  return html`<li>
    ${
      upload !== undefined && kind === 'image'
        ? html`<img class="thumbnail" src=${upload.dataUrl} alt=${words.preview(name)} />`
        : html`<span class="thumbnail none kind">${words.kinds[kind]}</span>`
    }
    <div class="reference-facts">
      <strong>${name}</strong>
      ${upload === undefined ? null : html`<span class="quiet small">${bytesText(upload.bytes)}, ${upload.type}</span>`}
      <${SelectField}
        label=${words.role(name)}
        value=${role}
        options=${roles.map((value) => ({ value, name: names[value] ?? value }))}
        onChange=${onRole}
      />
    </div>
    <button type="button" class="quiet" aria-label=${words.removeOf(name)} onClick=${onRemove}>${words.remove}</button>
  </li>`;
}
