import type { DescMethod } from '@bufbuild/protobuf';
import { compileAccessCheck } from './access.ts';
import { compileRuleCheck } from './rules.ts';
import type { Caller } from './service.ts';

/** The checks of a server before a method receives a message. Every transport runs them in the same order. */
export interface CallCheck {
  /** Checks the only request, or the first one of a stream: the access rule, then the rules of the fields. */
  first(caller: Caller, request: object): void;
  /** Checks every later request of a stream: the rules of the fields. */
  later(request: object): void;
}

/** Several servers and clients of one process share the check of a method. */
const COMPILED = new WeakMap<DescMethod, CallCheck>();

/** Throws if a rule of the method or of its request is not valid. Compiles each method once. */
export function compileCallCheck(method: DescMethod): CallCheck {
  const known = COMPILED.get(method);
  if (known !== undefined) return known;
  const check = compile(method);
  COMPILED.set(method, check);
  return check;
}

function compile(method: DescMethod): CallCheck {
  const assertMayCall = compileAccessCheck(method);
  const assertRules = compileRuleCheck(method.input);
  return {
    first: (caller, request) => {
      assertMayCall(caller, request);
      assertRules(request);
    },
    later: assertRules,
  };
}
