// Imported before the test files of a process, and before `node:test`: an AsyncLocalStorage holds which test runs. Node's test
// runner learns that by a hook on every promise, with which an `await` of the product takes ten times as long.
import asyncHooks, { AsyncLocalStorage, AsyncResource } from 'node:async_hooks';
import { isMainThread } from 'node:worker_threads';

/** The runner's hook for new resources, which notes the test of an asynchronous id. */
type Init = NonNullable<Parameters<typeof asyncHooks.createHook>[0]['init']>;
type Scoped = (this: AsyncResource, fn: (...args: unknown[]) => unknown, ...args: unknown[]) => unknown;

/** The asynchronous id of the test, suite or hook that runs. */
const running = new AsyncLocalStorage<number>();
const { createHook, executionAsyncId } = asyncHooks;
const runInAsyncScope = AsyncResource.prototype.runInAsyncScope as Scoped;

/** The runner calls its tests, suites and hooks as resources; those of others have no tests below them. */
const isOfRunner = (resource: AsyncResource): boolean => 'createSubtest' in resource;

function noteTests(init: Init): void {
  const scoped: Scoped = function scoped(fn, thisArg, ...args) {
    if (!isOfRunner(this)) return runInAsyncScope.call(this, fn, thisArg, ...args);
    const id = this.asyncId();
    init(id, 'Test', 0, this);
    return runInAsyncScope.call(this, () => running.run(id, () => fn.apply(thisArg, args)));
  };
  Object.assign(AsyncResource.prototype, { runInAsyncScope: scoped });
}

if (process.env['NODE_TEST_CONTEXT'] !== undefined && isMainThread) {
  // The runner makes its hook when the first test is defined, and no other hook.
  asyncHooks.createHook = ({ init }) => {
    if (init !== undefined) noteTests(init);
    asyncHooks.createHook = createHook;
    return createHook({});
  };
  asyncHooks.executionAsyncId = () => running.getStore() ?? executionAsyncId();
}
