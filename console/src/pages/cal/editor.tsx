// The editor of CAL: CodeMirror, in a shadow root, since the page's policy allows no style elements.
import {
  autocompletion,
  type CompletionContext,
  type CompletionResult,
  completionKeymap,
} from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { HighlightStyle, StreamLanguage, type StreamParser, syntaxHighlighting } from '@codemirror/language';
import { Annotation, Compartment, EditorState, Prec } from '@codemirror/state';
import { EditorView, keymap, placeholder } from '@codemirror/view';
import { tags } from '@lezer/highlight';
import { useEffect, useRef } from 'preact/hooks';

/** The words of the language, as the server describes them. */
export interface Vocabulary {
  /** In capitals. */
  readonly keywords: readonly string[];
  readonly fields: readonly { readonly name: string; readonly about: string }[];
  readonly types: readonly string[];
}

interface Props {
  readonly text: string;
  /** Undefined until the server has described the language. */
  readonly vocabulary: Vocabulary | undefined;
  readonly onChange: (text: string) => void;
  readonly onRun: () => void;
}

export function Editor({ text, vocabulary, onChange, onRun }: Props) {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | undefined>(undefined);
  const latest = useRef({ vocabulary, onChange, onRun });
  latest.current = { vocabulary, onChange, onRun };
  // A word that is typed before the vocabulary comes waits for it.
  const described = useRef(Promise.withResolvers<Vocabulary>());
  // Texts that came from here, and have not come back as `text` yet.
  const told = useRef<string[]>([]);
  useEffect(() => {
    const host = place.current;
    if (host === null) return;
    const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' });
    const run = keymap.of([
      {
        key: 'Mod-Enter',
        run: () => {
          latest.current.onRun();
          return true;
        },
      },
    ]);
    const editor = new EditorView({
      root,
      parent: root,
      state: EditorState.create({
        doc: text,
        extensions: [
          Prec.highest(run),
          history(),
          keymap.of([...completionKeymap, ...defaultKeymap, ...historyKeymap]),
          LANGUAGE.of(languageOf(vocabulary)),
          syntaxHighlighting(COLOURS),
          autocompletion({
            override: [(context) => complete(context, latest.current.vocabulary ?? described.current.promise)],
          }),
          EditorView.lineWrapping,
          EditorView.contentAttributes.of({ 'aria-label': 'The query' }),
          placeholder('RECALL beliefs LIKE "tea" LIMIT 10'),
          THEME,
          EditorView.updateListener.of((update) => {
            if (!update.docChanged || update.transactions.some((one) => one.annotation(FROM_PAGE) === true)) return;
            const typed = update.state.doc.toString();
            told.current.push(typed);
            latest.current.onChange(typed);
          }),
        ],
      }),
    });
    view.current = editor;
    return () => editor.destroy();
  }, []);
  // The words come after the first text, which is then read again.
  useEffect(() => {
    if (vocabulary === undefined) return;
    described.current.resolve(vocabulary);
    view.current?.dispatch({ effects: LANGUAGE.reconfigure(languageOf(vocabulary)) });
  }, [vocabulary]);
  // A text from elsewhere, such as the address, replaces the one that is there. One that was typed here comes back late:
  // the editor may be a few letters further, and keeps them.
  useEffect(() => {
    const editor = view.current;
    if (editor === undefined) return;
    const at = told.current.lastIndexOf(text);
    told.current.splice(0, editor.state.doc.toString() === text ? told.current.length : at + 1);
    if (at !== -1 || editor.state.doc.toString() === text) return;
    const changes = { from: 0, to: editor.state.doc.length, insert: text };
    editor.dispatch({ changes, annotations: FROM_PAGE.of(true) });
  }, [text]);
  return <div class="cal-editor" ref={place} />;
}

/** Marks a change that the page makes, which the page need not be told. */
const FROM_PAGE = Annotation.define<boolean>();

const WORD = /[A-Za-z_][\w]*/;

async function complete(
  context: CompletionContext,
  vocabulary: Vocabulary | Promise<Vocabulary>,
): Promise<CompletionResult | null> {
  const word = context.matchBefore(/[A-Za-z_]\w*/);
  if (word === null && !context.explicit) return null;
  const { keywords, fields, types } = await vocabulary;
  return {
    from: word?.from ?? context.pos,
    validFor: WORD,
    options: [
      ...keywords.map((label) => ({ label, type: 'keyword' })),
      ...types.map((label) => ({ label, type: 'type', detail: 'type' })),
      ...fields.map(({ name, about }) => ({ label: name, type: 'property', detail: about })),
    ],
  };
}

const LANGUAGE = new Compartment();

const NO_WORDS: Vocabulary = { keywords: [], fields: [], types: [] };

function languageOf({ keywords, fields, types } = NO_WORDS): StreamLanguage<null> {
  const parser: StreamParser<null> = {
    startState: () => null,
    token(stream) {
      if (stream.eatSpace()) return null;
      if (stream.match('--')) {
        stream.skipToEnd();
        return 'comment';
      }
      if (stream.match(/"(?:\\.|[^"\\])*"?/)) return 'string';
      if (stream.match(/sha256:[0-9a-f]+/)) return 'number';
      if (stream.match(/-?\d+(?:\.\d+)?/)) return 'number';
      if (stream.match(/\$\w+/)) return 'variableName';
      const word = stream.match(WORD);
      if (word === null || word === true || word === false) {
        stream.next();
        return null;
      }
      const [name = ''] = word;
      if (keywords.includes(name.toUpperCase())) return 'keyword';
      if (types.includes(name.toLowerCase())) return 'typeName';
      return fields.some((field) => field.name === name) ? 'propertyName' : null;
    },
  };
  return StreamLanguage.define(parser);
}

const COLOURS = HighlightStyle.define([
  { tag: tags.keyword, color: 'var(--accent)', fontWeight: '600' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: tags.number, color: 'var(--bad)' },
  { tag: tags.comment, color: 'var(--soft)', fontStyle: 'italic' },
  { tag: [tags.typeName, tags.variableName], color: 'var(--warn)' },
]);

const THEME = EditorView.theme({
  '&': { color: 'var(--text)', backgroundColor: 'var(--surface)', fontSize: '0.9rem' },
  '&.cm-focused': { outline: '2px solid var(--focus)' },
  '.cm-scroller': { fontFamily: 'var(--mono)', maxHeight: '22rem' },
  // The whole field takes a click, also below the text.
  '.cm-content': { caretColor: 'var(--text)', minHeight: '7rem' },
  '.cm-placeholder': { color: 'var(--soft)' },
  '&.cm-focused .cm-cursor': { borderLeftColor: 'var(--text)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-ground)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent-ground)',
    color: 'var(--text)',
  },
  '.cm-completionDetail': { color: 'var(--soft)', fontStyle: 'normal' },
});
