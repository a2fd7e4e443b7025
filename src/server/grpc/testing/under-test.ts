// The listener that the suites of this folder test.
import { type TestFn, test } from 'node:test';
import type { ListenGrpc } from '../front.ts';

export interface ListenerUnderTest {
  readonly name: string;
  readonly listen: ListenGrpc;
  /** Tests that do not hold for it, with the reason. */
  readonly except?: Readonly<Record<string, string>>;
}

/** Registers tests, without those that do not hold. */
export function testsOf({ except = {} }: ListenerUnderTest): (title: string, run: TestFn) => void {
  return (title, run) => void test(title, { skip: except[title] ?? false }, run);
}
