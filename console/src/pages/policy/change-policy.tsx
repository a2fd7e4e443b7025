import type { Input, JsonObject, Output } from 'granary-client';
import { useId, useRef, useState } from 'preact/hooks';
import { useDo } from '../../ask.ts';
import { Fact, Facts } from '../../parts/cards.tsx';
import { ErrorBox } from '../../parts/error-box.tsx';
import { count } from '../../parts/grain.tsx';
import { allowed, useSession } from '../../session.ts';
import { useUnsaved } from '../../unsaved.ts';
import { ruleText } from './rule-text.ts';

interface Props {
  readonly memory: string;
  readonly onClose: () => void;
  readonly onChanged: () => void;
}

/** Says what a change would mean, and makes it once that is known. */
export function ChangePolicy({ memory, onClose, onChanged }: Props) {
  const { client } = useSession();
  const id = useId();
  const { operations } = client.memory(memory);
  const [add, setAdd] = useState('');
  const [remove, setRemove] = useState('');
  const [overrides, setOverrides] = useState('');
  const [reason, setReason] = useState('');
  useUnsaved([add, remove, overrides, reason].some((text) => text !== ''));
  const [told, setTold] = useState<{
    readonly change: Input<'setPolicy'>;
    readonly result: Output<'simulatePolicy'>;
  }>();
  /** Changes of the form: an answer about an earlier form is not shown, and cannot be sealed. */
  const changes = useRef(0);
  const simulate = useDo(async () => {
    setTold(undefined);
    const asked = changes.current;
    const change = {
      addPolicies: listOf(add),
      removePolicies: listOf(remove),
      overrides: rulesOf(overrides),
      reason: reason === '' ? undefined : reason,
    };
    const result = await operations.simulatePolicy(change);
    if (changes.current === asked) setTold({ change, result });
  });
  const apply = useDo(async () => {
    if (told === undefined) return;
    await operations.setPolicy(told.change);
    onChanged();
  });
  /** A change of the form makes what is told about it old. */
  const changing = (set: (text: string) => void) => (event: { readonly currentTarget: { readonly value: string } }) => {
    changes.current += 1;
    setTold(undefined);
    set(event.currentTarget.value);
  };
  return (
    <section class="section change-policy">
      <h2>A change</h2>
      <form
        class="stack"
        onSubmit={(event) => {
          event.preventDefault();
          void simulate.run();
        }}
      >
        <label for={`${id}-add`}>Presets to add, such as gdpr, hipaa</label>
        <input id={`${id}-add`} value={add} onInput={changing(setAdd)} autocomplete="off" spellcheck={false} />
        <label for={`${id}-remove`}>Presets to remove</label>
        <input id={`${id}-remove`} value={remove} onInput={changing(setRemove)} autocomplete="off" spellcheck={false} />
        <label for={`${id}-rules`}>Rules, one a line, such as retention.default_ttl_days = 90</label>
        <textarea id={`${id}-rules`} value={overrides} onInput={changing(setOverrides)} spellcheck={false} />
        <label for={`${id}-reason`}>Reason (required to loosen rules)</label>
        <input id={`${id}-reason`} value={reason} onInput={changing(setReason)} autocomplete="off" />
        {simulate.error !== undefined && <ErrorBox error={simulate.error} />}
        {apply.error !== undefined && <ErrorBox error={apply.error} />}
        <div class="buttons">
          <button type="button" onClick={onClose}>
            Cancel
          </button>
          <button type="submit" class="primary" disabled={simulate.isRunning}>
            {simulate.isRunning ? 'Working…' : 'Show what it means'}
          </button>
          {told?.result.allowed === true && told.result.change !== 'unchanged' && allowed.value.has('setPolicy') && (
            <button type="button" class="danger" disabled={apply.isRunning} onClick={() => void apply.run()}>
              {apply.isRunning ? 'Working…' : 'Seal this version'}
            </button>
          )}
        </div>
      </form>
      {told !== undefined && <Meaning of={told.result} />}
    </section>
  );
}

const CHANGES = {
  upgraded: 'It tightens the policy.',
  downgraded: 'It loosens the policy.',
  unchanged: 'It changes nothing.',
};

function Meaning({
  of: { change, allowed: isAllowed, errors, diff, impact },
}: {
  readonly of: Output<'simulatePolicy'>;
}) {
  return (
    <div role="status">
      <p class={isAllowed ? 'good' : 'bad'}>
        {CHANGES[change]} {isAllowed ? '' : 'It is not allowed:'}
      </p>
      {errors.length > 0 && (
        <ul>
          {errors.map(({ code, message, path, field, issue }) => (
            <li key={`${code} ${path ?? field ?? ''}`}>
              <code>{code}</code> {[path ?? field, message ?? issue].filter((one) => one !== undefined).join(': ')}
            </li>
          ))}
        </ul>
      )}
      {diff.length > 0 && (
        <table class="diff-table">
          <thead>
            <tr>
              <th>Rule</th>
              <th>Now</th>
              <th>Then</th>
              <th>Direction</th>
            </tr>
          </thead>
          <tbody>
            {diff.map(({ path, from, to, direction }) => (
              <tr key={path}>
                <td>
                  <code>{path}</code>
                </td>
                <td>{ruleText(from)}</td>
                <td>{ruleText(to)}</td>
                <td>{direction}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <h3>Effect on stored data</h3>
      <Facts>
        <Fact name="Grains">{count(impact.grainsTotal)}</Fact>
        <Fact name="Grains that expire">{count(impact.grainsExpiring)}</Fact>
        <Fact name="Users without consent">{count(impact.usersWithoutConsent)}</Fact>
        <Fact name="Grains with blocked personal data">{count(impact.grainsWithBlockedPii)}</Fact>
        <Fact name="Principals that lose access">{count(impact.principalsLosingAccess)}</Fact>
      </Facts>
    </div>
  );
}

function listOf(text: string): readonly string[] | undefined {
  const names = text.split(/[\s,]+/).filter((one) => one !== '');
  return names.length === 0 ? undefined : names;
}

/** Lines such as `consent.mode = opt_in`; a value is JSON, or a word. Throws for a line without `=`. */
function rulesOf(text: string): JsonObject | undefined {
  const rules: Record<string, JsonObject[string]> = {};
  for (const [at, line] of text.split('\n').entries()) {
    if (line.trim() === '') continue;
    const cut = line.indexOf('=');
    if (cut < 0) throw new Error(`Line ${at + 1} of the rules has no "=": write RULE = VALUE.`);
    rules[line.slice(0, cut).trim()] = ruleValue(line.slice(cut + 1).trim());
  }
  return Object.keys(rules).length === 0 ? undefined : rules;
}

function ruleValue(text: string): JsonObject[string] {
  try {
    return JSON.parse(text) as JsonObject[string]; // JSON.parse gives nothing else
  } catch {
    return text;
  }
}
