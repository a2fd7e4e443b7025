// Chooses the memory that the pages below it show.

import { useId } from 'preact/hooks';
import { useLocation } from 'preact-iso';
import { addressOf } from './address.ts';
import { useAsk } from './ask.ts';
import type { Page } from './page.ts';
import { allowed, memoryChanges, useSession } from './session.ts';
import { leave } from './unsaved.ts';

/** More memories than that are found by typing an id. */
const SHOWN_MAX = 200;
const FIRST_PAGE = { on: 'memory', path: 'grains' } as const;

interface Props {
  readonly memory: string;
  readonly current: Page | undefined;
}

export function MemoryChoice({ memory, current }: Props) {
  const { client, caller } = useSession();
  const { route } = useLocation();
  const id = useId();
  const mayList = allowed.value.has('listMemories');
  const { value } = useAsk(mayList ? `memories ${memoryChanges.value.times}` : undefined, (signal) =>
    client.operations.listMemories({ limit: SHOWN_MAX }, { signal }),
  );
  const ids = caller.memoryIds ?? value?.memories.map((one) => one.id) ?? [];
  const go = (next: string): void => {
    if (next === '' || next === memory) return;
    leave(() => route(addressOf(current?.on === 'memory' ? current : FIRST_PAGE, next)));
  };
  return (
    <div class="memory-choice">
      <label for={id}>Memory</label>
      <input
        id={id}
        key={memory}
        list={`${id}-list`}
        defaultValue={memory}
        spellcheck={false}
        autocomplete="off"
        onChange={(event) => {
          const next = event.currentTarget.value.trim();
          // Until the page has changed, the field names the memory that is shown.
          event.currentTarget.value = memory;
          go(next);
        }}
        onFocus={(event) => event.currentTarget.select()}
      />
      <datalist id={`${id}-list`}>
        {ids.map((one) => (
          <option key={one} value={one} />
        ))}
      </datalist>
    </div>
  );
}
