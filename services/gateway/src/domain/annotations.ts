/** A word by which a client accounts for its work, such as `spring-campaign`. */
export const LABEL = /^[A-Za-z0-9._:/-]{1,64}$/;
export const LABEL_MAX = 64;
/** The rule in the words of a refusal, after the name of the field. */
export const LABEL_RULE = 'must be 1 to 64 letters, digits and characters of . _ - : /, such as spring-campaign';

/** A text of the client about its own work. The task keeps it, and no generator gets it. */
interface Annotation {
  /** The header of a create. No upstream gets a header of this prefix. */
  readonly header: `Reelgate-${string}`;
  readonly pattern: RegExp;
  /** In the words of a refusal, after the name of the header. */
  readonly rule: string;
  readonly schema: {
    readonly type: 'string';
    readonly minLength: number;
    readonly maxLength: number;
    readonly pattern: string;
  };
  readonly example: string;
  /** For the readers of the API. */
  readonly description: string;
  /** For an agent that orders for a user. */
  readonly forAgents: string;
  /** For the readers of a list, which it filters. */
  readonly forLists: string;
}

/**
 * The annotations of a create, by the names of their members in `CreateTaskRequest` and `CreateBatchRequest`. The headers
 * that routes read, the documents, the requests to the tasks service and the arguments of the tools follow from an entry.
 */
export const ANNOTATIONS = {
  label: {
    header: 'Reelgate-Label',
    pattern: LABEL,
    rule: LABEL_RULE,
    schema: { type: 'string', minLength: 1, maxLength: LABEL_MAX, pattern: LABEL.source },
    example: 'spring-campaign',
    description:
      'A word for your own accounts, such as a project: usage can be split by it. It changes nothing else, and no ' +
      'generator gets it. A repeat with the same key keeps the first label. Without it the label of the token counts.',
    forAgents: 'A word for the accounts of the user, such as a project.',
    forLists: 'Only tasks with this label.',
  },
} as const satisfies Readonly<Record<string, Annotation>>;

export type AnnotationName = keyof typeof ANNOTATIONS;
export type AnnotationHeader = (typeof ANNOTATIONS)[AnnotationName]['header'];
/** The given annotations of a create. */
export type Annotations = Readonly<Partial<Record<AnnotationName, string>>>;

const NAMES = Object.keys(ANNOTATIONS) as readonly AnnotationName[];
export const ANNOTATION_HEADERS: readonly AnnotationHeader[] = NAMES.map((name) => ANNOTATIONS[name].header);
const NONE = mapAnnotations(() => '');

/** Maps each annotation, by its name. */
export function mapAnnotations<T>(map: (annotation: Annotation) => T): Readonly<Record<AnnotationName, T>> {
  return Object.fromEntries(NAMES.map((name) => [name, map(ANNOTATIONS[name])])) as Record<AnnotationName, T>;
}

/** Collects the annotations that `read` finds. */
export function collectAnnotations(read: (name: AnnotationName) => string | undefined): Annotations {
  const found: Partial<Record<AnnotationName, string>> = {};
  for (const name of NAMES) {
    const value = read(name);
    if (value !== undefined) found[name] = value;
  }
  return found;
}

/** Returns a value for every annotation, as the requests of the contracts have them: an empty one is not given. */
export function fillAnnotations(given: Annotations): Readonly<Record<AnnotationName, string>> {
  return { ...NONE, ...given };
}

/** Returns the value without the members that are annotations. */
export function removeAnnotations<T extends object>(value: T): Omit<T, AnnotationName> {
  const others = Object.entries(value).filter(([name]) => !Object.hasOwn(ANNOTATIONS, name));
  return Object.fromEntries(others) as Omit<T, AnnotationName>;
}
