import type { JsonPointer } from '../../domain/json-pointer.ts';

const DEPTH_MAX = 64;
/** A longer name matches no step of a pointer: a character of it has six bytes at most. */
export const NAME_BYTES_MAX = 2048;

interface Container {
  readonly isList: boolean;
  /** True if the pointer leads through it. */
  readonly isOnWay: boolean;
  /** The index of the element, in a list. */
  index: number;
  /** True if the pointer leads through the current element or member. */
  isStep: boolean;
  /** True if the pointer led through one of its members. */
  hadStep: boolean;
}

/** The open objects and lists of a JSON text, and how far the pointer leads through them. */
export interface JsonWay {
  /** Reports whether it may open: there is a limit of the depth. */
  open(isList: boolean): boolean;
  /** Reports whether such a container was open. */
  close(isList: boolean): boolean;
  isEmpty(): boolean;
  /** Takes a comma and returns what must follow it, or undefined outside objects and arrays. */
  next(): 'value' | 'name' | undefined;
  /**
   * Takes the name of a member, without its quotes. Returns false if an earlier member of the path has the same name.
   */
  name(raw: readonly number[]): boolean;
  /** Reports whether the value that begins here is the wanted one. */
  isAtEnd(): boolean;
}

export function newJsonPath(pointer: JsonPointer): JsonWay {
  const containers: Container[] = [];
  const isOnWay = (): boolean => {
    const inner = containers.at(-1);
    return inner === undefined || (inner.isOnWay && inner.isStep);
  };
  const readStep = (step: string | undefined, inner: Container): boolean => {
    inner.isStep = step !== undefined && step === pointer[containers.length - 1];
    const isFirst = !(inner.isStep && inner.hadStep);
    inner.hadStep ||= inner.isStep;
    return isFirst;
  };
  return {
    open: (isList) => {
      if (containers.length >= DEPTH_MAX) return false;
      const opened = { isList, isOnWay: isOnWay(), index: 0, isStep: false, hadStep: false };
      containers.push(opened);
      if (isList) readStep('0', opened);
      return true;
    },
    close: (isList) => containers.pop()?.isList === isList,
    isEmpty: () => containers.length === 0,
    next: () => {
      const inner = containers.at(-1);
      if (inner?.isList !== true) return inner === undefined ? undefined : 'name';
      inner.index += 1;
      readStep(String(inner.index), inner);
      return 'value';
    },
    name: (raw) => {
      const inner = containers.at(-1);
      return inner?.isOnWay !== true || readStep(raw.length > NAME_BYTES_MAX ? undefined : readName(raw), inner);
    },
    isAtEnd: () => containers.length === pointer.length && isOnWay(),
  };
}

/** The reader of strings has checked the name. A name that is not UTF-8 matches no other name. */
function readName(raw: readonly number[]): string {
  return JSON.parse(`"${Buffer.from(raw).toString()}"`) as string;
}
