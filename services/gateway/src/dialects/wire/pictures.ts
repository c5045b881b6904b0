import { MediaKind } from '@reelgate/proto/tasks/v1/order';
import type { FormFile } from '../dialect.ts';
import { objectSchema } from '../../domain/schema.ts';
import type { OptionalMembers, Schema, TypeOf } from '../../domain/schema.ts';
import { invalid } from './body-validator.ts';
import { readMedia, toWireMedia, invalidMedia, readDeclaredType } from './content-items.ts';
import type { DecodedItem, Role } from './content-items.ts';

/** The largest number of pictures in one field that is read. The tasks service checks how many a model takes. */
const LIST_MAX = 16;

/** The names of the first frame. OpenAI's clients send it under the first one, which may be a file in a form. */
const FIRST_FRAME = ['input_reference', 'image', 'first_frame', 'first_frame_image'] as const;
const LAST_FRAME = ['last_frame', 'last_frame_image'] as const;
const LISTS = ['images', 'reference_images'] as const;

export const FRAME_FILE: (typeof FIRST_FRAME)[number] = FIRST_FRAME[0];
export const LIST_FIELDS: readonly string[] = LISTS;
export const PICTURE_FIELDS: readonly string[] = [...FIRST_FRAME, ...LAST_FRAME, ...LISTS];

type FrameField = (typeof FIRST_FRAME | typeof LAST_FRAME)[number];

const address = { type: 'string', minLength: 1 } as const;
const picture = {
  title: 'Picture',
  anyOf: [address, objectSchema({ image_url: address }), objectSchema({ url: address })],
} as const satisfies Schema;
type Picture = TypeOf<typeof picture>;

const frame = (description: string) => ({ description, anyOf: [picture] }) as const;
const list = (description: string) => ({ type: 'array', maxItems: LIST_MAX, items: picture, description }) as const;

/** The fields as a body is checked for them, and as they are documented. */
export const pictureSchemas = {
  input_reference: frame('The first frame: a URL, a data URL or base64. A form can carry the file itself.'),
  image: frame('An alias of input_reference. Beside images it is one of them.'),
  first_frame: frame('An alias of input_reference.'),
  first_frame_image: frame('An alias of input_reference.'),
  last_frame: frame('The last frame: a URL, a data URL or base64.'),
  last_frame_image: frame('An alias of last_frame.'),
  images: list('One picture is the first frame; several are references.'),
  reference_images: list('Pictures to follow, which are no frames.'),
};

/** The fields for pictures that the open dialects have beside the content. */
export type PictureFields = OptionalMembers<typeof pictureSchemas>;

/** The fields as a form has them. A list is JSON, or comes as fields such as `images[]`. */
export const pictureTexts: Readonly<Record<string, Schema>> = Object.fromEntries(
  Object.entries(pictureSchemas).map(([name, { description }]) => [name, { ...address, description }]),
);

/** Reads the pictures beside the content, and the first frame if the client sent it as a file. */
export function readPictures(fields: PictureFields, file?: FormFile): DecodedItem[] {
  const first = pickOne(fields, FIRST_FRAME);
  const last = pickOne(fields, LAST_FRAME);
  const { images = [], reference_images: references = [] } = fields;
  if (file !== undefined && first !== undefined) throw refuse(first, `must not be given beside the file ${FRAME_FILE}`);
  const frame = file === undefined ? first : FRAME_FILE;
  if (images.length > 0 && frame !== undefined && frame !== 'image')
    throw refuse('images', `must not be given with ${frame}; send references as reference_images`);
  const isReference = images.length + (first === undefined ? 0 : 1) > 1;
  const role = isReference ? 'reference_image' : 'first_frame';
  return [
    ...(file === undefined ? [] : [readFrameFile(file)]),
    ...(first === undefined ? [] : [readPicture(fields[first], role, first)]),
    ...images.map((one, index) => readPicture(one, role, `images[${index}]`)),
    ...references.map((one, index) => readPicture(one, 'reference_image', `reference_images[${index}]`)),
    ...(last === undefined ? [] : [readPicture(fields[last], 'last_frame', last)]),
  ];
}

/** The one name under which a frame is given; undefined if it is not. */
function pickOne<N extends FrameField>(fields: PictureFields, names: readonly N[]): N | undefined {
  const [one, other] = names.filter((name) => fields[name] !== undefined);
  if (one !== undefined && other !== undefined)
    throw refuse(other, `must not be given with ${one}, which means the same; send one of them`);
  return one;
}

function refuse(field: string, message: string): Error {
  return invalid(field, message, 'invalid_content');
}

function readPicture(given: Picture | undefined, role: Role, field: string): DecodedItem {
  const url = typeof given === 'object' ? ('url' in given ? given.url : given.image_url) : (given ?? '');
  return readMedia({ kind: MediaKind.IMAGE, role, url, field, bare: true });
}

function readFrameFile({ mediaType, chunks }: FormFile): DecodedItem {
  if (chunks.length === 0) throw invalidMedia(FRAME_FILE, 'must not be an empty file');
  const declaredType = readDeclaredType(mediaType, MediaKind.IMAGE, FRAME_FILE);
  return {
    item: toWireMedia(MediaKind.IMAGE, 'first_frame', { declaredType }),
    field: FRAME_FILE,
    inline: { field: FRAME_FILE, declaredType, bytes: { chunks } },
  };
}
