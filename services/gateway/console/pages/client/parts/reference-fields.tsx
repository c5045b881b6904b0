import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { SelectField } from '../../../parts/select-field.tsx';
import { TextField } from '../../../parts/text-field.tsx';
import { tryWords } from '../try-words.ts';
import { bytesText } from '../../../parts/number-text.tsx';
import { listMedia, uploadName, withMedia, withRole, withoutMedia, ROLES } from './try-order.ts';
import type { MediaKind, Order, Uploads, Upload, OrderMedia } from './try-order.ts';

const words = tryWords.references;
const KINDS = (['image', 'video', 'audio'] as const).map((value) => ({ value, name: words.kinds[value] }));

export interface ReferenceFieldsProps {
  readonly order: Order;
  readonly uploads: Uploads;
  readonly bytesMax: number;
  readonly fault: string | undefined;
  readonly onChange: (order: Order, uploads: Uploads) => void;
}

/** The media that the model follows: files of the visitor, and URLs. */
export function ReferenceFields({ order, uploads, bytesMax, fault = '', onChange }: ReferenceFieldsProps): VNode {
  const [refusal, setRefusal] = useState('');
  const media = listMedia(order);
  const addFiles = async (files: readonly File[]): Promise<void> => {
    const added = await mergeFiles(order, uploads, files);
    const total = [...added.uploads.values()].reduce((sum, { dataUrl }) => sum + dataUrl.length, 0);
    if (total > bytesMax) {
      setRefusal(words.tooLarge(bytesText(total), bytesText(bytesMax)));
      return;
    }
    setRefusal(added.refused.map((name) => words.wrongType(name)).join(' '));
    onChange(added.order, added.uploads);
  };
  return (
    <fieldset>
      <legend>{words.legend}</legend>
      {media.length === 0 ? <p class="quiet small">{words.none}</p> : null}
      <ul class="references">
        {media.map((one) => (
          <ReferenceItem
            key={`${one.at} ${one.url}`}
            media={one}
            upload={uploads.get(one.url)}
            onRole={(role) => onChange(withRole(order, one.at, role), uploads)}
            onRemove={() => onChange(withoutMedia(order, one.at), without(uploads, one.url))}
          />
        ))}
      </ul>
      <label for="files">{words.add}</label>
      <input
        id="files"
        type="file"
        multiple
        accept="image/*,video/*,audio/*"
        aria-describedby="files-fault"
        onChange={({ currentTarget }) => {
          void addFiles([...(currentTarget.files ?? [])]);
          currentTarget.value = '';
        }}
      />
      <UrlField onAdd={(kind, url) => onChange(withMedia(order, kind, url), uploads)} />
      <p id="files-fault" class="fault small" role="alert">
        {[refusal, fault].filter(Boolean).join(' ')}
      </p>
    </fieldset>
  );
}

function UrlField({ onAdd }: { onAdd: (kind: MediaKind, url: string) => void }): VNode {
  const [url, setUrl] = useState('');
  const [kind, setKind] = useState<MediaKind>('image');
  return (
    <div class="url-field">
      <TextField label={words.url} type="url" value={url} onInput={setUrl} />
      <SelectField label={words.kind} value={kind} options={KINDS} onChange={setKind} />
      <button
        type="button"
        disabled={!URL.canParse(url)}
        onClick={() => {
          onAdd(kind, url);
          setUrl('');
        }}
      >
        {words.addUrl}
      </button>
    </div>
  );
}

/** The order with more files, and the names of those that no model takes. */
export async function mergeFiles(
  order: Order,
  uploads: Uploads,
  files: readonly File[],
): Promise<{ readonly order: Order; readonly uploads: Uploads; readonly refused: readonly string[] }> {
  const read = await Promise.all(files.filter(({ type }) => kindOfFile(type) !== undefined).map(readUpload));
  let changed = order;
  const all = new Map(uploads);
  for (const upload of read) {
    const name = uploadName(all, upload.name);
    all.set(name, upload);
    changed = withMedia(changed, kindOfFile(upload.type) ?? 'image', name);
  }
  const refused = files.filter(({ type }) => kindOfFile(type) === undefined).map(({ name }) => name);
  return { order: changed, uploads: all, refused };
}

function without(uploads: Uploads, name: string): Uploads {
  return new Map([...uploads].filter(([key]) => key !== name));
}

/** The family of a file, or undefined if no model takes it. */
function kindOfFile(type: string): MediaKind | undefined {
  const family = type.split('/')[0];
  return family === 'image' || family === 'video' || family === 'audio' ? family : undefined;
}

/** Reads a file of the visitor as a data URL. */
async function readUpload(file: File): Promise<Upload> {
  const dataUrl = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(typeof reader.result === 'string' ? reader.result : '');
    reader.onerror = () => reject(reader.error ?? new Error(file.name));
    reader.readAsDataURL(file);
  });
  return { name: file.name, type: file.type, bytes: file.size, dataUrl };
}

interface ReferenceItemProps {
  readonly media: OrderMedia;
  /** Undefined if the order names a URL. */
  readonly upload: Upload | undefined;
  readonly onRole: (role: string) => void;
  readonly onRemove: () => void;
}

/** A reference with its role. An image that was added is shown; of others the name, the size and the type. */
function ReferenceItem({ media, upload, onRole, onRemove }: ReferenceItemProps): VNode {
  const { kind, role, url } = media;
  const name = upload?.name ?? url;
  const names: Readonly<Record<string, string>> = words.roles;
  const roles = ROLES[kind].includes(role) ? ROLES[kind] : [role, ...ROLES[kind]];
  return (
    <li>
      {upload !== undefined && kind === 'image' ? (
        <img class="thumbnail" src={upload.dataUrl} alt={words.preview(name)} />
      ) : (
        <span class="thumbnail none kind">{words.kinds[kind]}</span>
      )}
      <div class="reference-facts">
        <strong>{name}</strong>
        {upload === undefined ? null : (
          <span class="quiet small">
            {bytesText(upload.bytes)}, {upload.type}
          </span>
        )}
        <SelectField
          label={words.role(name)}
          value={role}
          options={roles.map((value) => ({ value, name: names[value] ?? value }))}
          onChange={onRole}
        />
      </div>
      <button type="button" class="quiet" aria-label={words.removeOf(name)} onClick={onRemove}>
        {words.remove}
      </button>
    </li>
  );
}
