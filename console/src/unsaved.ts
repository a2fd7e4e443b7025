// Guards text that is typed and not sent, and a secret that is shown once: the page asks before it goes.
import { signal } from '@preact/signals';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { CONSOLE } from './place.ts';

/** A secret that the server cannot show again. It stays over all pages until a person says that it is copied. */
export const shownOnce = signal<string | undefined>(undefined);
/** The step that a person asked for while something was unsaved. It waits for the answer. */
export const waiting = signal<(() => void) | undefined>(undefined);

/** The forms that hold something unsaved. */
const holders = new Set<object>();

/** Makes every way out of the page ask first, while `isUnsaved`. */
export function useUnsaved(isUnsaved: boolean): void {
  const holder = useRef({}).current;
  useLayoutEffect(() => {
    if (!isUnsaved) return;
    holders.add(holder);
    return () => {
      holders.delete(holder);
    };
  }, [isUnsaved]);
}

/** Goes at once, or once a person has agreed to lose what is unsaved. */
export function leave(go: () => void): void {
  if (holders.size === 0) go();
  else waiting.value = go;
}

/**
 * Watches the ways that lead through the browser: links, the way back and forth, the end of the tab. `url` is the address
 * that is shown. The component that calls it is a child of the router's provider, so that it hears of them first.
 */
export function useWatchedWays(url: string): void {
  const shown = useRef(url);
  shown.current = url;
  useLayoutEffect(() => {
    /** True for the one event that a person has confirmed. */
    let isConfirmed = false;
    const onClose = (event: BeforeUnloadEvent): void => {
      if (holders.size > 0 || shownOnce.value !== undefined) event.preventDefault();
    };
    const onClick = (event: MouseEvent): void => {
      const link = event.composedPath().find((one) => one instanceof HTMLAnchorElement);
      if (link === undefined || holders.size === 0 || isConfirmed || !leadsToPage(link, event)) return;
      event.preventDefault();
      event.stopImmediatePropagation();
      waiting.value = () => {
        isConfirmed = true;
        link.click();
        isConfirmed = false;
      };
    };
    const onPopState = (event: PopStateEvent): void => {
      if (holders.size === 0 || isConfirmed) {
        isConfirmed = false;
        return;
      }
      event.stopImmediatePropagation();
      // The browser has gone already. The shown address becomes the step after the one that was asked for.
      history.pushState(null, '', shown.current);
      waiting.value = () => {
        isConfirmed = true;
        history.back();
      };
    };
    addEventListener('beforeunload', onClose);
    addEventListener('click', onClick, { capture: true });
    addEventListener('popstate', onPopState);
    return () => {
      removeEventListener('beforeunload', onClose);
      removeEventListener('click', onClick, { capture: true });
      removeEventListener('popstate', onPopState);
    };
  }, []);
}

/** True when the click shows another page in this tab. For other links, the browser asks or nothing is left. */
function leadsToPage(link: HTMLAnchorElement, event: MouseEvent): boolean {
  const isPlain = event.button === 0 && !(event.ctrlKey || event.metaKey || event.altKey || event.shiftKey);
  const isHere = link.origin === location.origin && link.pathname.startsWith(CONSOLE);
  const isPlace = link.getAttribute('href')?.startsWith('#') === true;
  return isPlain && isHere && !isPlace && link.target === '' && link.download === '';
}
