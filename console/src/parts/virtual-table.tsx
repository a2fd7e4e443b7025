// A table of any number of rows, of which only those in sight are in the page. Arrow keys move through the rows, Enter opens
// one. Rows that are not there yet are asked for when the reader comes near the end.
import {
  elementScroll,
  observeElementOffset,
  observeElementRect,
  Virtualizer,
  type VirtualizerOptions,
} from '@tanstack/virtual-core';
import type { ComponentChildren } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import { leave } from '../unsaved.ts';

export interface Column<Row> {
  readonly title: string;
  /** Width as a track of a CSS grid, such as `8rem` or `minmax(12rem, 1fr)`. */
  readonly width: string;
  readonly cell: (row: Row) => ComponentChildren;
  /** Hidden where the page is narrow. */
  readonly isMinor?: boolean | undefined;
  readonly isNumber?: boolean | undefined;
}

interface Props<Row> {
  /** Says to readers that hear the page what the rows are. */
  readonly label: string;
  readonly columns: readonly Column<Row>[];
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => string;
  /** Called with a row that was clicked, or chosen with Enter. */
  readonly onOpen?: ((row: Row) => void) | undefined;
  /** Key of the row that is open. */
  readonly open?: string | undefined;
  /** Called when the last rows come in sight. */
  readonly onEnd?: (() => void) | undefined;
  /** All rows there are, if it is known; otherwise those that are there. */
  readonly total?: number | undefined;
}

const ROW_PX = 38;
const ROWS_BEYOND = 12;
/** Rows before the end at which more are asked for. */
const NEAR_END = 60;

export function VirtualTable<Row>(props: Props<Row>) {
  const { label, columns, rows, onEnd, onOpen, total } = props;
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtual(scroller, rows.length);
  const items = virtual.getVirtualItems();
  const keyboard = useRowKeys(props, scroller, virtual);
  const last = items.at(-1)?.index ?? 0;
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - NEAR_END) onEnd?.();
  }, [last, rows.length, onEnd]);
  // Tab must reach the table even when the row that had the focus is out of sight.
  const inTab = items.some(({ index }) => index === keyboard.focused) ? keyboard.focused : items[0]?.index;
  return (
    <div
      class={onOpen === undefined ? 'table' : 'table opens'}
      role="table"
      aria-label={label}
      aria-rowcount={(total ?? rows.length) + 1}
    >
      <div class="table-scroll" ref={scroller} role="presentation">
        <div class="table-head" role="rowgroup">
          <div class="table-row" role="row" aria-rowindex={1} style={{ gridTemplateColumns: tracks(columns) }}>
            {columns.map(({ title, isMinor, isNumber }) => (
              <div key={title} role="columnheader" class={cellClass(isMinor, isNumber)}>
                {title}
              </div>
            ))}
          </div>
        </div>
        <div class="table-body" role="rowgroup" style={{ height: `${virtual.getTotalSize()}px` }}>
          {items.map(({ index, start }) => {
            const row = rows[index];
            if (row === undefined) return null;
            const place = { index, start, isInTab: index === inTab };
            return <TableRow key={props.keyOf(row)} row={row} place={place} table={props} keyboard={keyboard} />;
          })}
        </div>
      </div>
    </div>
  );
}

interface RowProps<Row> {
  readonly row: Row;
  readonly place: { readonly index: number; readonly start: number; readonly isInTab: boolean };
  readonly table: Props<Row>;
  readonly keyboard: RowKeys;
}

function TableRow<Row>({ row, place, table, keyboard }: RowProps<Row>) {
  const { columns, keyOf, onOpen, open } = table;
  const { index, start, isInTab } = place;
  const canOpen = onOpen !== undefined;
  return (
    <div
      class="table-row"
      role="row"
      aria-rowindex={index + 2}
      aria-current={canOpen && keyOf(row) === open ? 'true' : undefined}
      tabIndex={isInTab ? 0 : -1}
      style={{ gridTemplateColumns: tracks(columns), transform: `translateY(${start}px)` }}
      onClick={() => leave(() => onOpen?.(row))}
      onFocus={() => keyboard.noteFocus(index)}
      onKeyDown={(event) => keyboard.onKey(event, index)}
    >
      {columns.map(({ title, cell, isMinor, isNumber }) => (
        <div key={title} role="cell" class={cellClass(isMinor, isNumber)}>
          {cell(row)}
        </div>
      ))}
    </div>
  );
}

interface RowKeys {
  /** The row that had the focus last. */
  readonly focused: number;
  readonly noteFocus: (index: number) => void;
  readonly onKey: (event: KeyboardEvent, index: number) => void;
}

function useRowKeys<Row>(
  { rows, onOpen }: Props<Row>,
  scroller: { readonly current: HTMLDivElement | null },
  virtual: Virtualizer<HTMLDivElement, HTMLDivElement>,
): RowKeys {
  const [focused, setFocused] = useState(0);
  const wanted = useRef<number | undefined>(undefined);
  // The row is in the page only once the table has scrolled to it.
  useEffect(() => {
    if (wanted.current === undefined) return;
    const row = scroller.current?.querySelector<HTMLElement>(`[aria-rowindex="${wanted.current + 2}"]`);
    if (row === null || row === undefined) return;
    wanted.current = undefined;
    row.focus({ preventScroll: true });
  });
  const onKey = (event: KeyboardEvent, index: number): void => {
    const page = Math.max(1, Math.floor((scroller.current?.clientHeight ?? 0) / ROW_PX) - 2);
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: index + 1,
      ArrowUp: index - 1,
      PageDown: index + page,
      PageUp: index - page,
      Home: 0,
      End: rows.length - 1,
    };
    const row = rows[index];
    const step = steps[event.key];
    if (step !== undefined) {
      wanted.current = Math.max(0, Math.min(rows.length - 1, step));
      setFocused(wanted.current);
      virtual.scrollToIndex(wanted.current);
    } else if (isOpening(event) && row !== undefined) leave(() => onOpen?.(row));
    else return;
    event.preventDefault();
  };
  return { focused: Math.min(focused, Math.max(0, rows.length - 1)), noteFocus: setFocused, onKey };
}

/** Keys of what stands within a row are its own. */
function isOpening({ key, target, currentTarget }: KeyboardEvent): boolean {
  return (key === 'Enter' || key === ' ') && target === currentTarget;
}

function tracks<Row>(columns: readonly Column<Row>[]): string {
  return columns.map(({ width, isMinor }) => (isMinor ? `var(--minor-track, ${width})` : width)).join(' ');
}

function cellClass(isMinor: boolean | undefined, isNumber: boolean | undefined): string | undefined {
  return [isMinor ? 'minor' : '', isNumber ? 'number' : ''].filter((one) => one !== '').join(' ') || undefined;
}

function useVirtual(scroller: { readonly current: HTMLDivElement | null }, count: number) {
  const [, redraw] = useState(0);
  const options: VirtualizerOptions<HTMLDivElement, HTMLDivElement> = {
    count,
    getScrollElement: () => scroller.current,
    estimateSize: () => ROW_PX,
    overscan: ROWS_BEYOND,
    observeElementRect,
    observeElementOffset,
    scrollToFn: elementScroll,
    onChange: () => redraw((times) => times + 1),
  };
  const [virtual] = useState(() => new Virtualizer(options));
  virtual.setOptions(options);
  useLayoutEffect(() => virtual._didMount(), [virtual]);
  useLayoutEffect(() => virtual._willUpdate());
  return virtual;
}
